import { openSqliteStore } from './sqlite-file.js';
import { storeContract } from './store.js';

storeContract('Prisma on SQLite', openSqliteStore);
