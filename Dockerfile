# syntax=docker/dockerfile:1
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked && cp target/release/dermaga /dermaga && mkdir /empty

# No shell, no package manager, not root; with CA certificates. Time zones are in the binary.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /dermaga /usr/local/bin/dermaga
COPY --from=build --chown=65532:65532 /empty /data
ENV DERMAGA_LISTEN=0.0.0.0:8080 DERMAGA_DATA_DIR=/data
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/dermaga"]
