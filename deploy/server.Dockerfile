# An image of the job server with its pages and the browser runtime. Build it from the repository's root:
#   docker build -f deploy/server.Dockerfile -t hyperflock-server .
#
# BASE is Debian 12. A tag can be moved to another image, so a release names one by its digest (deploy/README.md).
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS build
WORKDIR /src
COPY . .
# Runs the same build as outside of a container. Brotli uses its best level, because an image is built once and
# downloaded often.
RUN BROTLI_QUALITY=11 ./run build

FROM ${BASE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates libssl3 libspdlog1.10 libfmt9 \
      libprometheus-cpp-core1.0 zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /var/lib/hyperflock --create-home hyperflock
COPY --from=build /src/build/release/bin/hyperflock-server /usr/local/bin/hyperflock-server
COPY --from=build /src/build/web /usr/share/hyperflock/web
COPY --from=build /src/build/runtime /usr/share/hyperflock/runtime
ENV HYPERFLOCK_APP=/usr/share/hyperflock/web HYPERFLOCK_RUNTIME=/usr/share/hyperflock/runtime
USER 10001
VOLUME /var/lib/hyperflock
EXPOSE 8780 8790
STOPSIGNAL SIGTERM
ENTRYPOINT ["hyperflock-server"]
CMD ["serve", "--state=/var/lib/hyperflock"]
