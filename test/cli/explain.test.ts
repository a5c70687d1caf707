import { afterAll, beforeAll, expect, test } from 'vitest';
import { aCampaign, aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';
import { runCli, spawnCli } from '../helpers/run-cli.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runService([
    aWorkspace({
      campaigns: [
        aCampaign({ campaign_id: 'spring', priority: 'high', audience: { tier: 'gold' } }),
        aCampaign({ campaign_id: 'welcome-everyone', placements: ['home', 'side'] }),
        aCampaign({ campaign_id: 'odd\u001b[2J\nname', status: 'draft' }),
      ],
    }),
  ]);
});
afterAll(() => service.stop());

const environment = () => ({ PLACARD_ENDPOINT: service.url, PLACARD_API_KEY: SERVER_KEY });
const explain = (...words: string[]) => runCli(['explain', ...words], environment());

test('placard explain prints the campaigns of a placement in order, with reasons', async () => {
  const words = ['explain', '--user', 'u-771', '--placement', 'home,nothing-there'];
  const { code, stdout } = await spawnCli(words, environment());
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    'The service has no profile of this user.',
    '',
    'home',
    '  1  spring            not in audience  the user is not in the audience: audience.tier expects "gold", the user has nothing',
    '  2  welcome-everyone  shown            shows variant a',
    '  3  odd name          inactive         is a draft',
    'nothing-there',
    '  no campaign names this placement',
    '',
  ]);
});

test('placard explain suggests the closest placement', async () => {
  const { stdout } = await explain('--user', 'u-771', '--placement', 'hom,Side,nothing-there');
  expect(stdout.match(/no campaign names this placement.*/g)).toEqual([
    'no campaign names this placement; is "home" meant?',
    'no campaign names this placement; is "side" meant?',
    'no campaign names this placement',
  ]);
});

test('placard explain prints the JSON response with --json, for all placements by default', async () => {
  const { stdout } = await explain('--user', 'u-771', '--json');
  const { placements } = JSON.parse(stdout);
  expect(Object.keys(placements)).toEqual(['home', 'side']);
  expect(placements.side).toMatchObject([{ campaign_id: 'welcome-everyone', outcome: 'shown' }]);
});

test('placard explain reports missing arguments', async () => {
  expect(await explain()).toMatchObject({
    code: 1,
    stderr: 'placard: explain needs a user: placard explain --user u-771\n',
  });
  expect(await explain('--user', 'u', '--key', 'wrong')).toMatchObject({
    code: 1,
    stderr: 'placard: POST /placard/explain returned 401: Invalid API key\n',
  });
});
