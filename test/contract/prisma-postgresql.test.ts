import { describeOnPostgres } from '../harness/services.js';
import { openPostgresStore } from './postgres-database.js';
import { storeContract } from './store.js';

describeOnPostgres('PostgreSQL', () => storeContract('Prisma on PostgreSQL', openPostgresStore));
