# grantd as an image: one program for every role, `docker run IMAGE front` and so on. It runs as any user, on a read-only
# root filesystem and without capabilities; only `grantd dev` writes, to GRANTD_DATA_DIR. docs/operating/image.md says more.

FROM node:26-slim AS build
WORKDIR /build
# When the image says it was made, in seconds since 1970: with the same one, the same checkout gives the same files.
ARG SOURCE_DATE_EPOCH=0
COPY .npmrc package.json package-lock.json ./
COPY packages packages
RUN npm ci --ignore-scripts
COPY LICENSE ./
COPY proto proto
COPY scripts/reproducible-sbom.mjs scripts/
COPY scripts/packages scripts/packages
COPY src src
# The list of packages is made of what the program depends on, once nothing else is installed and no package.json asks for
# more: with --omit alone, npm leaves out of it what a development dependency uses as well. The optional ones are Node
# itself, which the base brings. The modes of a checkout may be anything: every user reads, and nobody but root writes.
RUN node scripts/packages/image-files.ts image \
  && npm prune --omit=dev --omit=optional --ignore-scripts \
  && npm pkg delete devDependencies optionalDependencies --workspaces --include-workspace-root \
  && npm sbom --sbom-format=spdx | node scripts/reproducible-sbom.mjs > image/sbom.spdx.json \
  && chmod -R u=rwX,go=rX image && chmod 755 image/dist/grantd.js

FROM node:26-slim
# The data directory belongs to the user below, so that a new volume mounted there does too.
RUN install -d -o 1000 -g 1000 -m 700 /var/lib/grantd && ln -s /opt/grantd/dist/grantd.js /usr/local/bin/grantd
WORKDIR /opt/grantd
COPY --from=build /build/image ./
ENV NODE_ENV=production GRANTD_DATA_DIR=/var/lib/grantd
# By number: only so can Kubernetes tell that it is not root.
USER 1000:1000
# The public API, the ops port, gRPC of the shards, the console.
EXPOSE 8080 8081 8082 8090
# Node itself is process 1 and gets the signals; there is no shell between. No HEALTHCHECK: roles and ports differ.
ENTRYPOINT ["node", "/opt/grantd/dist/grantd.js"]
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
