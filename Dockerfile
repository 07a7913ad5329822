# Built with the development packages and a C++ compiler, run without either.
FROM node:22-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY . .
# Optional companions of packages too: Prisma's command line is larger than all else together.
RUN npm run build && npm prune --omit=dev --omit=optional --omit=peer

FROM node:22-bookworm-slim
# In a container the server has to listen on every interface, and refuses to as long as anybody may be anybody: set
# AUTH_MODE=jwt with AUTH_JWT_SECRET or AUTH_JWKS_URL, or ALLOW_INSECURE=1 on a network that you trust.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# A new volume takes the owner of the folder it is mounted on.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself as the first process: the server handles SIGTERM and drains. Other commands stand behind the image's name.
ENTRYPOINT ["node", "dist/server/main.js"]
CMD ["serve"]
