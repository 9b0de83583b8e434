# grantd as an image: one program for every role, `docker run IMAGE front` and so on. It runs as any user, on a read-only
# root filesystem and without capabilities; only `grantd dev` writes, to GRANTD_DATA_DIR. docs/operating/image.md says more.

FROM node:26-slim AS build
WORKDIR /build
# When the image says it was made, in seconds since 1970: with the same one, the same checkout gives the same files.
ARG SOURCE_DATE_EPOCH=0
COPY .npmrc package.json package-lock.json scripts/reproducible-sbom.mjs ./
COPY packages packages
# The optional ones are Node itself, which the base brings. The list of what is inside is made of what was installed, once
# no package.json asks for more: with --omit, npm leaves out of it what a development dependency uses as well.
# Types, source maps, sources of styles, machine code for another runtime and what is built for bundlers are more than half of
# it all; the program loads none of them from a package.
RUN npm ci --omit=dev --omit=optional --ignore-scripts \
  && npm pkg delete devDependencies optionalDependencies --workspaces --include-workspace-root \
  && npm sbom --sbom-format=spdx | node reproducible-sbom.mjs > sbom.spdx.json \
  && find node_modules -type f \
    \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' -o -name '*.bare' -o -name '*.scss' \) -delete \
  && find node_modules/@opentelemetry -type d \( -path '*/build/esm' -o -path '*/build/esnext' \) -prune -exec rm -rf {} + \
  && find node_modules/@picocss/pico/css -type f ! -name pico.min.css -delete
COPY LICENSE ./
COPY proto proto
COPY src src
# The modes of a checkout may be anything. Every user reads, nobody but root writes, and `grantd` is main.ts.
RUN chmod -R u=rwX,go=rX LICENSE package.json packages proto src && chmod 755 src/main.ts

FROM node:26-slim
# The data directory belongs to the user below, so that a new volume mounted there does too.
RUN install -d -o 1000 -g 1000 -m 700 /var/lib/grantd && ln -s /opt/grantd/src/main.ts /usr/local/bin/grantd
WORKDIR /opt/grantd
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/LICENSE /build/package.json /build/sbom.spdx.json ./
COPY --from=build /build/packages packages
COPY --from=build /build/proto proto
COPY --from=build /build/src src
ENV NODE_ENV=production GRANTD_DATA_DIR=/var/lib/grantd
# By number: only so can Kubernetes tell that it is not root.
USER 1000:1000
# The public API, the ops port, gRPC of the shards, the console.
EXPOSE 8080 8081 8082 8090
# Node itself is process 1 and gets the signals; there is no shell between. No HEALTHCHECK: roles and ports differ.
ENTRYPOINT ["node", "/opt/grantd/src/main.ts"]
CMD ["--help"]
# Last, so that another version uses the layers above again.
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="grantd" \
  org.opencontainers.image.description="Multi-tenant authorization service: stores grants and answers checks" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.base.name="docker.io/library/node:26-slim" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
