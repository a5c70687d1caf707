import { openStore } from '../../../src/service/store/index.ts';
import { aDatabase } from '../../helpers/postgres.ts';
import { studioContract } from './contract.ts';

studioContract('PostgreSQL', async () => openStore(await aDatabase()));
