# The whole service in one image; compose.yaml puts a PostgreSQL beside it. Which roles it runs, --roles says.
FROM node:24-bookworm-slim AS console

WORKDIR /opt/posthaste
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
COPY console/package.json console/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY bin bin
COPY src src
COPY clients/typescript clients/typescript
COPY console console
COPY openapi.json ./
RUN npm run -s build -w console

FROM node:24-bookworm-slim

WORKDIR /opt/posthaste
COPY package.json package-lock.json ./
# The console is built above.
RUN npm pkg delete scripts.prepare && npm ci --omit=dev --no-audit --no-fund && npm cache clean --force
COPY bin bin
COPY src src
COPY db db
COPY --from=console /opt/posthaste/console/dist console/dist
COPY openapi.json LICENSE ./

# Journals, the secret key and, without DATABASE_URL, the database.
RUN mkdir /data && chown node:node /data
VOLUME /data
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
USER node
EXPOSE 8080

# Machines without the role api answer no HTTP: start those with --no-healthcheck.
HEALTHCHECK --interval=10s --start-period=20s \
  CMD node -e 'fetch("http://127.0.0.1:" + (process.env.PORT || 8080) + "/readyz").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))'
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/posthaste.js"]
CMD ["serve"]
