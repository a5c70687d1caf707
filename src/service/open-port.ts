import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Has the server listen. Resolves with the port, and with the address without a slash at the end; rejects where the port cannot be had. */
export const openPort = async (
  server: Server,
  port: number,
  host: string,
): Promise<{ url: string; port: number }> => {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { url: `http://${shownHost}:${address.port}`, port: address.port };
};
