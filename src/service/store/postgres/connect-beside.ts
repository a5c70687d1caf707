import { type Connections, connect } from './connect.ts';
import { checkTables } from './schema.ts';

/** Connects to a database that a service made, and may be using at this moment. */
export const connectBeside = async (url: string, connections = 1): Promise<Connections> => {
  const connected = connect(url, 'upkeep', { connections });
  try {
    await checkTables(connected.pool);
    return connected;
  } catch (error) {
    await connected.close();
    throw error;
  }
};
