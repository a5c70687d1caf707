import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { SessionResponse } from '../studio/index.ts';
import { createStudioClient, type StudioClientOptions } from '../studio-client/index.ts';
import { createMcpServer } from './create-mcp-server.ts';

export interface ServeMcpOptions extends Pick<StudioClientOptions, 'studioUrl' | 'key'> {
  version: string;
  /** Called with the operator once the Studio has accepted the key. */
  onReady?: (operator: SessionResponse['operator']) => void;
}

/** Serves MCP over stdio until stdin ends. Throws if the Studio does not accept the key. */
export const serveMcp = async ({ studioUrl, key, version, onReady }: ServeMcpOptions): Promise<void> => {
  const studio = createStudioClient({ studioUrl, key });
  const { operator } = await studio.request<SessionResponse>('/api/session');
  const ended = once(process.stdin, 'end');
  serveStdio(() => createMcpServer({ studio, operator, version }));
  onReady?.(operator);
  await ended;
};
