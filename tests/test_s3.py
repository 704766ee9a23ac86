"""Material and workspace in a bucket, over the real protocol: a server of the S3 API on loopback."""

from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer
from pyarrow import fs

from mqlab import jsonout
from mqlab.capture import open_capture
from mqlab.errors import MqlabError
from mqlab.spark import guest

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "mqtt-retained-02"


@pytest.fixture(scope="module")
def s3(spark):
    """The file system of a server with a bucket ``incidents``, whose address Spark's workers know too."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    known = {
        "AWS_ENDPOINT_URL": "http://{}:{}".format(*server.get_host_and_port()),
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in known.items():
            patch.setenv(name, value)
            patch.setitem(spark.sparkContext.environment, name, value)
        system, _ = fs.FileSystem.from_uri("s3://incidents/?allow_bucket_creation=true")
        system.create_dir("incidents")
        yield system
    server.stop()


def test_a_capture_in_a_bucket_gives_the_diagnosis_of_the_folder_and_its_workspace_there_is_used_again(
    s3, tmp_path, monkeypatch
):
    fs.copy_files(str(SAMPLE), "incidents/june", destination_filesystem=s3)
    here = open_capture(SAMPLE, workspace=str(tmp_path))
    there = "s3://incidents/workspace"
    first = open_capture("s3://incidents/june", workspace=there)
    monkeypatch.setattr(guest, "tune", None)
    second = open_capture("s3://incidents/june", workspace=there)
    assert here.diagnosis.findings
    assert jsonout.dumps(first.diagnosis) == jsonout.dumps(here.diagnosis)
    assert jsonout.dumps(second.diagnosis) == jsonout.dumps(here.diagnosis)
    kept = s3.get_file_info(fs.FileSelector("incidents/workspace"))
    assert {info.base_name.split("-")[0] for info in kept} >= {"material", "scan"}


@pytest.mark.parametrize(
    ("material", "workspace", "said"),
    [
        ("s3://elsewhere/june", None, "There is no 's3://elsewhere/june': check the spelling"),
        (
            str(SAMPLE),
            "s3://elsewhere/w",
            "The workspace s3://elsewhere/w cannot be used: Bucket 'elsewhere' not found",
        ),
    ],
    ids=["material", "workspace"],
)
def test_a_bucket_that_does_not_exist_is_one_sentence(s3, tmp_path, material, workspace, said):
    assert s3.type_name == "s3"
    with pytest.raises(MqlabError) as raised:
        open_capture(material, workspace=workspace or str(tmp_path))
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 64
