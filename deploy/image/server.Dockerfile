# An image of the job server with its pages and the browser runtime. Build it from the repository's root:
#   docker build -f deploy/image/server.Dockerfile -t hyperflock-server .
# `./run image` builds the last stage without a registry and without an engine.
#
# BASE is Debian 12, by its digest, because a tag can be moved to another image (deploy/README.md).
ARG BASE=debian:bookworm-slim@sha256:96e378d7e6531ac9a15ad505478fcc2e69f371b10f5cdf87857c4b8188404716
FROM ${BASE} AS build
WORKDIR /src
COPY . .
# Runs the same build as outside of a container. Brotli uses its best level, because an image is built once and
# downloaded often.
RUN BROTLI_QUALITY=11 ./run build

# The part of Debian that the server needs: no shell, no package manager.
FROM ${BASE} AS system
COPY deploy/image/rootfs.sh /rootfs.sh
RUN /rootfs.sh /rootfs && mkdir /state

FROM scratch
COPY --from=system /rootfs /
# Named volumes take the owner of the folders that they cover.
COPY --from=system --chown=10001:10001 /state /var/lib/hyperflock
COPY --from=system --chown=10001:10001 /state /backups
COPY --from=build /src/build/release/bin/hyperflock-server /usr/bin/hyperflock-server
COPY --from=build /src/build/web /usr/share/hyperflock/web
COPY --from=build /src/build/runtime /usr/share/hyperflock/runtime
COPY --from=build /src/build/sbom.cdx.json /usr/share/doc/hyperflock-server/sbom.cdx.json
ENV HYPERFLOCK_STATE=/var/lib/hyperflock \
    HYPERFLOCK_APP=/usr/share/hyperflock/web \
    HYPERFLOCK_RUNTIME=/usr/share/hyperflock/runtime \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
USER 10001
VOLUME /var/lib/hyperflock
EXPOSE 8780 8790
STOPSIGNAL SIGTERM
ENTRYPOINT ["hyperflock-server"]
CMD ["serve"]
