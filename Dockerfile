# The server, with Java for the pipeline; also an executor of Spark on Kubernetes. Build it in a checkout: docker build --tag lineage-bridge .
FROM node:22-bookworm-slim AS node

FROM python:3.12-slim-bookworm AS build
# Node builds the web page and is left behind.
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && python -m venv /opt/lineage-bridge
WORKDIR /build
COPY requirements/build.txt requirements/image.txt requirements/
RUN /opt/lineage-bridge/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt \
    && /opt/lineage-bridge/bin/pip install --no-cache-dir --require-hashes --no-build-isolation -r requirements/image.txt
COPY . .
RUN /opt/lineage-bridge/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless=17.* tini=0.19.* \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 lineage-bridge \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/lineage-bridge --shell /usr/sbin/nologin lineage-bridge \
    && install -d -o 10001 -g 10001 -m 700 /var/lib/lineage-bridge
COPY --from=build /opt/lineage-bridge /opt/lineage-bridge
COPY --chmod=755 deploy/entrypoint.sh /usr/local/bin/lineage-bridge-entrypoint
# Other machines reach the server, so it asks for keys. Everything that it writes is below one folder, or in /tmp.
ENV PATH=/opt/lineage-bridge/bin:$PATH \
    LINEAGE_BRIDGE_HOST=0.0.0.0 \
    LINEAGE_BRIDGE_DATA_DIR=/var/lib/lineage-bridge/data \
    XDG_CACHE_HOME=/var/lib/lineage-bridge/cache
USER 10001:10001
WORKDIR /var/lib/lineage-bridge
VOLUME /var/lib/lineage-bridge
EXPOSE 8000
# A process that reaps what a killed pipeline leaves behind, which a supervisor in its place would not.
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/lineage-bridge-entrypoint"]
CMD ["serve"]
