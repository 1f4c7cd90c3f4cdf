# The labelling page: docker build -t fewlabels . (docs/docker.md says how to use it, and how to pin the base by its digest)
ARG BASE=python:3.12-slim
FROM ${BASE} AS build
ARG EXTRAS=""
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
    && python -m venv /opt/fewlabels \
    && /opt/fewlabels/bin/pip install --no-cache-dir "$(ls /wheels/*.whl)${EXTRAS:+[$EXTRAS]}"

FROM ${BASE}
# libgomp1: the threads of Numba; what it takes without them aborts when two Python threads meet in it.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --no-create-home --home-dir /data --shell /usr/sbin/nologin labels \
    && install --directory --owner labels --group labels /data
COPY --from=build /opt/fewlabels /opt/fewlabels

# Caches lie in /tmp, so that any --user works, and --read-only with --tmpfs /tmp.
ENV PATH=/opt/fewlabels/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    FEWLABELS_HOST=0.0.0.0 \
    FEWLABELS_PORT=8765 \
    NUMBA_CACHE_DIR=/tmp/numba \
    MPLCONFIGDIR=/tmp/matplotlib \
    FEWLABELS_CACHE=/tmp/fewlabels

USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s CMD ["python", "-I", "-c", "import http.client, os, sys; line = http.client.HTTPConnection('127.0.0.1', int(os.environ['FEWLABELS_PORT']), timeout=4); line.request('GET', '/static/favicon.svg'); sys.exit(line.getresponse().status != 200)"]
ENTRYPOINT ["fewlabels"]
CMD ["demo", "--store", "/data/demo.sqlite"]
