# The image of Satscribe: source as it is (Node runs TypeScript, nothing is built), dependencies without those of development.
#
#   docker build -t satscribe .
#   docker run --rm -p 127.0.0.1:7700:7700 satscribe demo
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:24-slim
# code that was compiled once is kept with the data: /app is not writable
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data NODE_COMPILE_CACHE=/data/compiled
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY migrations ./migrations
COPY samples ./samples
COPY indexer ./indexer
COPY search ./search
COPY src ./src
# everything that is kept is there: the embedded Postgres too, where DATABASE_URL names no other
RUN mkdir /data && chown node:node /data
VOLUME /data
# an ordinary user of the base image (1000:1000); nothing in /app is writable for it
USER node
EXPOSE 7700
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 7700) + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/src/main.ts"]
CMD ["serve"]
