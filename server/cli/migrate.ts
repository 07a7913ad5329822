import { migrateDatabase } from '../app.js';
import { readConfig } from '../config.js';

/** Applies the migrations that are missing, and says which. */
export async function migrate(): Promise<number> {
  const applied = await migrateDatabase(readConfig(process.env));
  for (const name of applied) console.log(`applied ${name}`);
  if (applied.length === 0) console.log('the database is up to date');
  return 0;
}
