# The whole service in one image; compose.yaml puts a PostgreSQL beside it. Which roles it runs, --roles says.
FROM node:24-bookworm-slim

WORKDIR /opt/posthaste
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund && npm cache clean --force
COPY bin bin
COPY src src
COPY db db
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
