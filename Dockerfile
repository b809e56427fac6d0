# Images of the applier, for docker and podman:
#
#     docker build -t applier .                          every verb, without Java
#     docker build -t applier-spark --target spark .     with Spark and Java, as drivers and executors on Kubernetes
#     docker build -t applier-demo --target demo .       what `make demo` shows: docker run --rm applier-demo
#
# A wheel is for one version of Python: all stages have the same.
ARG PYTHON=docker.io/library/python:3.11-slim

FROM ${PYTHON} AS wheel
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONSTRAINT=/src/constraints.txt
WORKDIR /src
COPY . .
RUN pip wheel --no-deps --config-settings levels=all --wheel-dir /wheels .

FROM ${PYTHON} AS base
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
COPY constraints.txt /wheels/
RUN useradd --create-home --uid 1000 applier
COPY --from=wheel /wheels /wheels
RUN pip install -c /wheels/constraints.txt "$(echo /wheels/*.whl)[lake,server]"
WORKDIR /work
ENTRYPOINT ["applier"]

FROM base AS demo
RUN pip install -c /wheels/constraints.txt duckdb duckdb-extension-avro duckdb-extension-iceberg polars
COPY tests/__init__.py /demo/tests/
COPY tests/recorded/archives /demo/tests/recorded/archives
COPY tests/support/iceberg_readers.py /demo/tests/support/
ENV PYTHONPATH=/demo
RUN chown applier /work
USER 1000
ENTRYPOINT ["python", "-m", "tests.recorded.archives.demonstrate"]

FROM base AS spark
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends default-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*
RUN pip install -c /wheels/constraints.txt "$(echo /wheels/*.whl)[connect,lake,server,spark]"
COPY --chmod=755 examples/kubernetes/entrypoint.sh /usr/local/bin/
USER 1000
ENTRYPOINT ["entrypoint.sh"]

FROM base AS applier
USER 1000
CMD ["--help"]
