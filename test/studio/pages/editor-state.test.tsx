// Drafts in the editor: save conflicts, merges of two operators' edits, and local copies on the device.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CampaignJson } from '../../../src/studio/campaign/campaign-json.ts';
import { createEditor } from '../../../src/studio/pages/editor/editor-state.ts';
import { session } from '../../../src/studio/pages/shell/session.ts';
import type { SessionResponse } from '../../../src/studio/server/routes/access.ts';
import type { CampaignVersions } from '../../../src/studio/server/routes/campaigns.ts';

const BASE: CampaignJson = {
  campaign_id: 'sale',
  name: 'Sale',
  status: 'active',
  placements: ['home'],
  variants: [{ variant_id: 'a', properties: { headline: { type: 'string', value: 'Hello' } } }],
};
const AT = '2026-03-02T09:00:00Z';

/** Draft server with one campaign. Accepts a change only on top of its current revision. */
const aServer = () => {
  let stored: { revision: string; campaign: CampaignJson; editor: string } | null = null;
  let next = 1;
  const put = (campaign: CampaignJson, editor: string) => {
    stored = { revision: `r${next}`, campaign, editor };
    next += 1;
    return stored;
  };
  const draftRow = () => stored && { ...stored, basedOn: 1, at: AT };
  const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });
  const server = {
    isDown: false,
    /** Stores changes, but its responses are lost. */
    isMute: false,
    saved: [] as CampaignJson[],
    colleague: (make: (draft: CampaignJson) => void) => {
      const campaign = structuredClone(stored?.campaign ?? BASE);
      make(campaign);
      put(campaign, 'Mia');
    },
    row: () =>
      ({ id: 'sale', newest: 1, published: { campaign: BASE }, draft: draftRow() }) as CampaignVersions,
    fetch: async (path: string, init: RequestInit): Promise<Response> => {
      if (server.isDown) throw new TypeError('no connection');
      if (path === '/api/validation') return json(200, { checks: [] });
      if (init.method === 'GET') return json(200, server.row());
      const ifMatch = new Headers(init.headers).get('if-match');
      if (ifMatch !== (stored ? `"${stored.revision}"` : null))
        return json(412, { message: 'Draft was changed elsewhere', theirs: draftRow() });
      const { campaign } = JSON.parse(String(init.body));
      server.saved.push(campaign);
      const { revision } = put(campaign, 'Ed');
      if (server.isMute) throw new TypeError('no connection');
      return json(200, { revision, checks: [] });
    },
    stored: () => stored?.campaign,
  };
  return server;
};

let server: ReturnType<typeof aServer>;
beforeEach(() => {
  server = aServer();
  vi.stubGlobal('fetch', server.fetch);
  session.value = { operator: { name: 'Ed', role: 'edit' }, workspace: { id: 'shop' } } as SessionResponse;
  localStorage.clear();
});
afterEach(() => vi.unstubAllGlobals());

const edited = () => createEditor(server.row(), false);
const headline = () => server.stored()?.variants[0]?.properties['headline']?.value;
const write = (editor: ReturnType<typeof edited>, value: string) =>
  editor.changeVariant(
    'a',
    (before) => ({ ...before, properties: { headline: { type: 'string', value } } }),
    'h',
  );

describe('a change', () => {
  test('is saved over the previous revision, in sequence', async () => {
    const editor = edited();
    editor.set('name', 'One');
    await editor.flush();
    editor.set('name', 'Two');
    await editor.flush();
    expect(server.saved.map(({ name }) => name)).toEqual(['One', 'Two']);
    expect([editor.state.value.status, editor.isDraft.value, editor.revision()]).toEqual([
      'saved',
      true,
      'r2',
    ]);
  });

  test('removes a member, and an undo restores it in place', async () => {
    const editor = edited();
    editor.set('name', null);
    expect(editor.campaign.value).not.toHaveProperty('name');
    editor.undo();
    expect(JSON.stringify(editor.campaign.value)).toBe(JSON.stringify(BASE));
    editor.redo();
    await editor.flush();
    expect(server.stored()).not.toHaveProperty('name');
  });

  test('made letter by letter counts as one undo step', () => {
    const editor = edited();
    for (const name of ['S', 'Su', 'Sum']) editor.set('name', name);
    editor.undo();
    expect([editor.campaign.value.name, editor.canUndo.value]).toEqual(['Sale', false]);
  });
});

describe('a colleague’s change', () => {
  test('to another part is kept beside the user’s own, and undo does not revert it', async () => {
    const editor = edited();
    server.colleague((draft) => {
      draft.name = 'Theirs';
    });
    write(editor, 'Mine');
    await editor.flush();
    expect([server.stored()?.name, headline(), editor.state.value.status]).toEqual([
      'Theirs',
      'Mine',
      'saved',
    ]);
    expect(editor.canUndo.value).toBe(false);
    // From here on it is a regular draft of both operators.
    write(editor, 'Mine again');
    await editor.flush();
    expect([server.stored()?.name, headline()]).toEqual(['Theirs', 'Mine again']);
  });

  test('to the same part requires a choice, and the user’s own change is saved if chosen', async () => {
    const editor = edited();
    server.colleague((draft) => {
      draft.name = 'Theirs';
    });
    editor.set('name', 'Mine');
    await editor.flush();
    expect(editor.state.value).toMatchObject({ status: 'conflict', theirs: { editor: 'Mia' } });
    editor.set('name', 'Mine too');
    await editor.flush();
    expect(server.stored()?.name).toBe('Theirs');
    editor.keepMine();
    await editor.flush();
    expect([server.stored()?.name, editor.state.value.status]).toEqual(['Mine too', 'saved']);
  });

  test('to the same part requires a choice, and undo after choosing it restores the user’s own change', async () => {
    const editor = edited();
    server.colleague((draft) => {
      draft.name = 'Theirs';
    });
    editor.set('name', 'Mine');
    await editor.flush();
    editor.takeTheirs();
    expect([editor.campaign.value.name, editor.state.value.status]).toEqual(['Theirs', 'saved']);
    editor.undo();
    await editor.flush();
    expect(server.stored()?.name).toBe('Mine');
  });

  test('updates the page of an operator without changes', async () => {
    const editor = edited();
    await editor.poll();
    expect(editor.state.value.status).toBe('saved');
    server.colleague((draft) => {
      draft.name = 'Theirs';
    });
    await editor.poll();
    expect([editor.campaign.value.name, editor.state.value.status]).toEqual(['Theirs', 'saved']);
  });
});

describe('offline', () => {
  test('keeps a change on the device, and the next page saves it', async () => {
    server.isDown = true;
    const editor = edited();
    editor.set('name', 'On the train');
    await editor.flush();
    expect(editor.state.value).toEqual({ status: 'failed', message: expect.any(String) });
    server.isDown = false;
    const next = edited();
    expect(next.campaign.value.name).toBe('On the train');
    await next.flush();
    expect(server.stored()?.name).toBe('On the train');
    expect(localStorage).toHaveLength(0);
  });

  test('reports a conflict on the next page if a colleague superseded the change', async () => {
    server.isDown = true;
    const editor = edited();
    editor.set('name', 'On the train');
    await editor.flush();
    server.isDown = false;
    server.colleague((draft) => {
      draft.name = 'Theirs';
    });
    const next = edited();
    expect(next.state.value).toMatchObject({ status: 'conflict', theirs: { campaign: { name: 'Theirs' } } });
    expect(next.campaign.value.name).toBe('On the train');
  });

  test('does not report a conflict if the response to a change was lost', async () => {
    const editor = edited();
    server.isMute = true;
    editor.set('name', 'Stored');
    await editor.flush();
    expect(editor.state.value.status).toBe('failed');
    server.isMute = false;
    await editor.poll();
    expect([editor.state.value.status, server.stored()?.name]).toEqual(['saved', 'Stored']);
  });
});
