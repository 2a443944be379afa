# An image of Debian's PostgreSQL, for deploy/compose/postgres.yml. It is told no password: the first start makes one.
ARG BASE=debian:bookworm-slim@sha256:96e378d7e6531ac9a15ad505478fcc2e69f371b10f5cdf87857c4b8188404716
FROM ${BASE}
# The user is the server's, so that both can read the password. The packages make no database: that belongs into a volume.
RUN groupadd --gid 10001 hyperflock \
    && useradd --uid 10001 --gid 10001 --home-dir /database --shell /usr/sbin/nologin hyperflock \
    && apt-get update \
    && apt-get install -y --no-install-recommends postgresql-common \
    && sed -ri 's/^#? ?(create_main_cluster) .*/\1 = false/' /etc/postgresql-common/createcluster.conf \
    && apt-get install -y --no-install-recommends postgresql-15 \
    && rm -rf /var/lib/apt/lists/* \
    && install -d -o 10001 -g 10001 -m 700 /database /run/database
COPY deploy/image/postgres.sh /usr/bin/database
ENV PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin \
    LANG=C.UTF-8
USER 10001
# PostgreSQL ends its sessions and stops.
STOPSIGNAL SIGINT
ENTRYPOINT ["sh", "/usr/bin/database"]
