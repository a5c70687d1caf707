import { McpServer } from '@modelcontextprotocol/server';
import { includesRole } from '../protocol/index.ts';
import type { SessionResponse } from '../studio/index.ts';
import { type StudioClient, StudioError } from '../studio-client/index.ts';
import { readTools } from './read-tools.ts';
import { annotationsFor, type Tool } from './tool.ts';
import { writeTools } from './write-tools.ts';

const INSTRUCTIONS = `Placard shows banners ("campaigns") in "placements" of web apps.
- Start with get_workspace; read get_schema before you write a campaign.
- Write drafts only: create_draft or update_draft, then check_campaign, then give the person studio_url or a preview link.
- publish_campaign and stop_campaign change what users see. Call them only if the person has asked for exactly that.
- If a campaign is not shown, call explain_placement, then get_campaign (halted).
- Report results as their headline says. Do not compute a winner yourself.`;

const TOOLS: readonly Tool[] = [...readTools, ...writeTools];

/** Returns the tools of an operator's role, in a fixed order. */
export const toolsFor = ({ role }: SessionResponse['operator']): Tool[] =>
  TOOLS.filter((tool) => includesRole(role, tool.role));

const result = (value: Record<string, unknown>) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value) }],
  structuredContent: value,
});

const failure = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  // The other members show the agent how to continue, for example the failed checks or the newer draft.
  const { message: _, ...members } = error instanceof StudioError ? error.body : {};
  const details = Object.keys(members).length > 0 ? `\n${JSON.stringify(members)}` : '';
  return { isError: true, content: [{ type: 'text' as const, text: message + details }] };
};

export interface McpServerOptions {
  studio: StudioClient;
  operator: SessionResponse['operator'];
  version: string;
}

/** Creates an MCP server with the tools that an operator may call. Logs every call to the audit log before it runs. */
export const createMcpServer = ({ studio, operator, version }: McpServerOptions): McpServer => {
  const server = new McpServer(
    { name: 'placard', version },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of toolsFor(operator)) {
    const { name, title, description } = tool;
    server.registerTool(
      name,
      { title, description, inputSchema: tool.createInput(operator), annotations: annotationsFor(name) },
      async (input: unknown) => {
        try {
          const body = { tool: name, subject: tool.getSubject(input) };
          await studio.request('/api/tool-calls', { method: 'POST', body });
          const found = await tool.run(input, { studio, operator });
          return result({ ...found, studio_url: studio.link(tool.getPage(input)) });
        } catch (error) {
          return failure(error);
        }
      },
    );
  }
  return server;
};
