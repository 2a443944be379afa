# An image with the researcher's package, for the services of docker-compose.yml that are written in Python.
ARG BASE=debian:bookworm-slim@sha256:96e378d7e6531ac9a15ad505478fcc2e69f371b10f5cdf87857c4b8188404716
FROM ${BASE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv
COPY python /src/python
RUN python3 -m venv /opt/hyperflock && /opt/hyperflock/bin/pip install --no-cache-dir '/src/python[optuna]'

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/hyperflock /opt/hyperflock
ENV PATH=/opt/hyperflock/bin:/usr/bin:/bin
USER 10001
