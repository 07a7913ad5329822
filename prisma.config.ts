import { defineConfig } from 'prisma/config';

// Set by tools/prisma.mjs, which is the way to run the Prisma CLI here.
const provider = process.env.DB_PROVIDER === 'postgresql' ? 'postgresql' : 'sqlite';

/** `migrate dev` may reset its database, so without a word from the caller it gets one that no server uses. */
const development = {
  sqlite: 'file:./data/development.db',
  postgresql: 'postgresql://postgres@127.0.0.1:5432/turnstream_development',
};
/** The address of the other kind of database, left in the environment, is not meant for this provider. */
const scheme = { sqlite: /^file:/, postgresql: /^postgres(ql)?:/ };
const given = process.env.DATABASE_URL ?? '';

export default defineConfig({
  schema: `prisma/${provider}`,
  migrations: { path: `prisma/${provider}/migrations` },
  datasource: { url: scheme[provider].test(given) ? given : development[provider] },
});
