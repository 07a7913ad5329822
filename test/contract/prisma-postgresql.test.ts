import { openPostgresStore } from './postgres-database.js';
import { storeContract } from './store.js';

storeContract('Prisma on PostgreSQL', openPostgresStore);
