import { aDatabase } from '../../helpers/postgres.ts';
import { storeContract } from './contract.ts';

storeContract('PostgreSQL', aDatabase, { reopens: true });
