# JupyterLab with mqlab, its notebooks and a Spark that is prepared:
#
#   docker build --tag mqlab .
#   docker run --rm --init --publish 127.0.0.1:8888:8888 \
#     --volume mqlab:/home/mqlab/work --volume "$PWD:/home/mqlab/material:ro" mqlab
#
# It prints its address with a token. `material` is what you gathered, `work` what mqlab keeps.
FROM python:3.11-slim-bookworm

RUN useradd --uid 1000 --create-home --shell /bin/bash mqlab
USER 1000
WORKDIR /home/mqlab
ENV PATH=/home/mqlab/venv/bin:$PATH \
    MQLAB_WORKSPACE=/home/mqlab/work/workspace \
    PYTHONDONTWRITEBYTECODE=1
RUN mkdir --mode=700 work && mkdir material mqlab

WORKDIR /home/mqlab/mqlab
COPY --chown=mqlab:mqlab requirements.lock ./
RUN python -m venv ../venv \
 && pip install --no-cache-dir --require-hashes --requirement requirements.lock

COPY --chown=mqlab:mqlab . ./
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable . \
 && mqlab doctor --prepare

VOLUME /home/mqlab/work
EXPOSE 8888
WORKDIR /home/mqlab
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser", \
     "--LabApp.default_url=/lab/tree/mqlab/notebooks/00_triage.ipynb"]
