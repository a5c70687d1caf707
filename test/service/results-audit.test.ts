// Long random histories over the API. Compares every number in the Studio with the reference model.
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { exportLines, openStore, type Store } from '../../src/service/index.ts';
import { APP_ID, SERVER_KEY } from '../helpers/a-workspace.ts';
import { aDatabase } from '../helpers/postgres.ts';
import fc, { times } from '../helpers/property.ts';
import { keptOpen } from '../helpers/running-service.ts';
import { type RunningStudio, runStudio } from '../helpers/running-studio.ts';
import {
  aPerson,
  type BannerFacts,
  become,
  type CampaignSpec,
  type Done,
  type EventType,
  expectedOutcomes,
  expectedResults,
  type GoalSpec,
  HOUR,
  type Person,
  type Seen,
  see,
} from './results-audit-model.ts';
import {
  type File,
  getCampaigns,
  getFile,
  HOLDOUT,
  HOLDOUT_GOALS,
  HOLDOUT_STARTS,
  START,
  type Step,
  step,
  USERS,
} from './results-audit-workspace.ts';

const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const getBuckets = (...names: string[]): [number, number] => {
  const bytes = createHash('sha256').update(JSON.stringify(names)).digest();
  return [bytes.readUIntBE(0, 6) / 2 ** 48, bytes.readUIntBE(6, 6) / 2 ** 48];
};

/** The variant a user would have, also if in the control group. */
const drawn = (workspaceId: string, campaign: CampaignSpec, user: string) => {
  const [, chance] = getBuckets(workspaceId, campaign.campaign_id, user);
  const { variants } = campaign;
  const upTo = (count: number) => variants.slice(0, count).reduce((sum, { weight }) => sum + weight, 0);
  return variants.find((_, index) => chance * upTo(variants.length) < upTo(index + 1))!;
};

const readLanguage = (
  campaign: CampaignSpec,
  variant: CampaignSpec['variants'][number],
  reads: string | null,
) => {
  if (campaign.language === undefined) return null;
  const has = [campaign.language, ...Object.keys(variant.translations ?? {})];
  for (let tag = reads ?? ''; tag !== ''; tag = tag.split('-').slice(0, -1).join('-'))
    if (has.includes(tag)) return tag;
  return campaign.language;
};

/** A database and its replicas, which can be restarted. */
interface Stage {
  addresses: string[];
  stores: Store[];
}

const mayGoBeside = ({ what }: Step) =>
  what.do === 'visit' || what.do === 'attributes' || (what.do === 'deed' && what.alias === null);

/** Groups of steps sent concurrently, each for another user. */
const getGroups = (steps: readonly Step[]): Step[][] => {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    const fits = last && step.isBeside && [...last, step].every(mayGoBeside);
    if (fits && last.every(({ user }) => user !== step.user)) last.push(step);
    else groups.push([step]);
  }
  return groups;
};

let runs = 0;

const play = async (stage: Stage, steps: readonly Step[], timeZone: string) => {
  runs += 1;
  const workspaceId = `w-${runs}`;
  let file: File = { weight: 1, hasThird: false, goals: 3, hasSale: true, vip: 'gold' };
  // Runs share a database, and sign-ins per address are rate limited.
  let now = START + runs * 60_000;
  const start = () =>
    Promise.all(
      stage.stores.map((store) =>
        runStudio(getFile(workspaceId, timeZone, file), { store: keptOpen(store) }),
      ),
    );
  let replicas = await start();
  let turn = 0;
  const studio = (): RunningStudio => {
    turn += 1;
    const replica = replicas[turn % replicas.length]!;
    replica.clock.now = now;
    return replica;
  };
  const format = new Intl.DateTimeFormat('en-CA', { timeZone });
  const getDay = (ms: number) => format.format(ms);
  const iso = (ms: number) => new Date(ms).toISOString();

  let people: Person[] = [];
  const points = new Map<string, number>();
  const banners: { id: string; owner: string; facts: BannerFacts }[] = [];
  const sent: { user: string; id: string; event_type: EventType; timestamp: string }[] = [];
  /** In a stable order: IDs differ in each run, and concurrent steps finish in any order. */
  const inOneOrder = <T extends { id: string }>(list: readonly T[]): T[] => {
    const named = list.map((each) => {
      const { owner, facts } = banners.find(({ id }) => id === each.id)!;
      return { each, name: JSON.stringify([{ ...each, id: '' }, owner, facts]) };
    });
    return named.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ each }) => each);
  };
  const addPoints = (count: number) => {
    const day = iso(now).slice(0, 10);
    if (count > 0) points.set(day, (points.get(day) ?? 0) + count);
  };
  const getPerson = (externalId: string) => people.find((each) => each.externalId === externalId);
  const ofAlias = (alias: string) => people.find((each) => each.aliases.includes(alias));
  const make = (members: Partial<Person>) => {
    const person = aPerson(members);
    people.push(person);
    return person;
  };
  const withProfile = (externalId: string) => {
    const person = getPerson(externalId) ?? make({ externalId });
    person.hasProfile = true;
    return person;
  };
  const isHeldOut = (externalId: string) =>
    getBuckets(workspaceId, `@holdout:${HOLDOUT_STARTS}`, externalId)[0] * 100 < HOLDOUT;
  const fromServer = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await studio().service.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${SERVER_KEY}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    );
    // biome-ignore lint/suspicious/noExplicitAny: the test inspects the body of the response
    return { status: response.status, body: (await response.json()) as any };
  };
  const envelope = (externalId: string) => ({
    external_user_id: externalId,
    app_id: APP_ID,
    app_version: '1',
  });

  /** Sends banner events and adds the stored ones to the model. */
  const track = async (
    externalId: string,
    events: { id: string; event_type: EventType; timestamp: string }[],
    isBot: boolean,
  ) => {
    const headers = { 'user-agent': isBot ? BOT : BROWSER };
    const answer = await studio().fromPage(
      '/v1/device-messaging/banners/track',
      { ...envelope(externalId), events },
      headers,
    );
    let person = getPerson(externalId);
    const known = events.map(({ id }) => banners.find((each) => each.id === id)!);
    const taken = person ? known : known.filter(({ owner }) => owner === externalId);
    expect(answer.status).toBe(taken.length > 0 ? 202 : 400);
    if (taken.length === 0) return;
    expect(answer.body.events_processed).toBe(taken.length);
    person ??= make({ externalId });
    for (const [index, { id, event_type: type, timestamp }] of events.entries()) {
      const { facts, owner } = known[index]!;
      if (!taken.includes(known[index]!)) continue;
      const timeMs = Date.parse(timestamp);
      const ms = Math.min(timeMs, now);
      const isTestSend = facts.isTestSend || isBot;
      const campaign = getCampaigns(file).find((each) => each.campaign_id === facts.campaignId);
      const isOfHoldout =
        facts.campaignId !== '@holdout' &&
        ms >= HOLDOUT_STARTS &&
        !isHeldOut(externalId) &&
        !campaign?.tags?.includes('service');
      const day = getDay(timeMs > now - 400 * 24 * HOUR ? ms : now);
      const event: Seen = {
        ...facts,
        name: `${id} ${type} ${timeMs}`,
        type,
        ms,
        day,
        isTestSend,
        isOfHoldout,
      };
      see(person, event);
      const onClick = campaign?.variants.find(({ variant_id }) => variant_id === facts.variantId)?.on_click;
      if (type !== 'click' || !onClick || isTestSend || owner !== externalId) continue;
      const click = `${id} ${timeMs}`;
      if (person.clicks.has(click)) continue;
      person.clicks.add(click);
      person.hasProfile = true;
      person.done.push({ event: onClick.event, spent: 0, count: 1, currency: null, ms });
      addPoints(2);
    }
    sent.push(...events.map((each) => ({ user: externalId, ...each })));
  };

  const visit = async (
    externalId: string,
    { placements, reads }: { placements: string[]; reads: string },
  ) => {
    const body = { ...envelope(externalId), placements };
    const headers = { 'user-agent': BROWSER, 'accept-language': reads };
    const answer = await studio().fromPage('/v1/device-messaging/banners/sync', body, headers);
    expect(answer.status).toBe(200);
    const { body: why } = await fromServer('/placard/explain', body, { 'accept-language': reads });
    const person = getPerson(externalId);
    const campaigns = getCampaigns(file);
    const rules = { campaigns, vip: file.vip, now, getDay, promoADay: 1 };
    const expected = expectedOutcomes(person, externalId, placements, rules);
    const found: { id: string; facts: BannerFacts }[] = [];
    for (const placementId of placements) {
      const reasons: { campaign_id: string; outcome: string; banner_id?: string; by_holdout?: boolean }[] =
        why.placements[placementId];
      const banner = answer.body.banners[placementId];
      const words = reasons.map(({ campaign_id, outcome }) => [
        campaign_id,
        outcome === 'held_out' ? 'shown' : outcome,
      ]);
      expect(words, `why at ${iso(now)}`).toEqual(expected[placementId]);
      const got = reasons.find(({ outcome }) => outcome === 'shown' || outcome === 'held_out');
      expect(banner?.id ?? null).toBe(got?.banner_id ?? null);
      if (!banner || !got) continue;
      const campaign = campaigns.find((each) => each.campaign_id === got.campaign_id)!;
      const isTestSend = campaign.test_users?.includes(externalId) ?? false;
      const byHoldout =
        !isTestSend && now >= HOLDOUT_STARTS && !campaign.tags?.includes('service') && isHeldOut(externalId);
      const [chance] = getBuckets(workspaceId, campaign.campaign_id, externalId);
      const isControl = byHoldout || (!isTestSend && chance * 100 < (campaign.control_percentage ?? 0));
      expect([banner.is_control, banner.is_test_send, got.by_holdout ?? false]).toEqual([
        isControl,
        isTestSend,
        byHoldout,
      ]);
      const variant = drawn(workspaceId, campaign, externalId);
      const language = readLanguage(campaign, variant, person?.language ?? (reads || null));
      if (!isControl) {
        expect(banner.properties.c.value).toBe(campaign.campaign_id);
        expect(banner.properties.v.value).toBe(variant.variant_id);
        expect(banner.properties.language?.value ?? null).toBe(language);
      }
      const facts: BannerFacts = {
        campaignId: byHoldout ? '@holdout' : campaign.campaign_id,
        variantId: isControl ? null : variant.variant_id,
        placementId,
        language,
        isTestSend,
      };
      const same = banners.find(({ id }) => id === banner.id);
      if (same) expect(same.facts).toEqual(facts);
      else banners.push({ id: banner.id, owner: externalId, facts });
      found.push({ id: banner.id, facts });
    }
    return found;
  };

  let session = { cookie: '', atMs: Number.NEGATIVE_INFINITY };
  const signedIn = async (): Promise<string> => {
    if (now - session.atMs > HOUR / 2) session = { cookie: await studio().signIn('Vera'), atMs: now };
    return session.cookie;
  };

  /** Reads everything that the Studio shows and the exports contain. */
  const look = async () => {
    const cookie = await signedIn();
    const read = async (path: string) => {
      const answer = await studio().call('GET', path, { cookie });
      expect(answer.status, path).toBe(200);
      return answer.body;
    };
    const campaigns = getCampaigns(file);
    const numbers = (await read('/api/campaign-stats')).numbers;
    const all: [string, GoalSpec[], (string | null)[]][] = [
      ...campaigns.map(
        ({
          campaign_id,
          conversions = [],
          variants,
          control_percentage,
        }): [string, GoalSpec[], (string | null)[]] => [
          campaign_id,
          conversions,
          [...variants.map(({ variant_id }) => variant_id), ...(control_percentage ? [null] : [])],
        ],
      ),
      ['@holdout', HOLDOUT_GOALS, ['campaigns', null]],
    ];
    for (const [campaignId, goals, known] of all) {
      const expected = expectedResults(people, campaignId, goals, { arms: known, getDay });
      const shown = await read(`/api/results/${campaignId}`);
      const named = (rows: Record<string, unknown>[], ...names: string[]) =>
        Object.fromEntries(
          rows.map(({ variantId, name: _, share: __, ...row }) => {
            const part = names.map((each) => row[each]).join('');
            for (const each of names) delete row[each];
            return [names.length > 0 ? `${part} ${variantId}` : String(variantId), row];
          }),
        );
      const seen = {
        arms: named(shown.arms),
        days: named(shown.days, 'day'),
        placements: named(shown.placements, 'placementId'),
        languages: named(shown.languages, 'language'),
        currencies: shown.currencies,
      };
      const isAll = campaignId === '@holdout';
      expect(seen, `${campaignId} at ${iso(now)} in ${timeZone}`).toEqual({
        ...expected,
        ...(isAll && { placements: {}, languages: {} }),
      });
      if (isAll) continue;
      const arms = Object.entries(expected.arms) as [string, { exposed: number; clicked: number }][];
      const sum = (of: 'exposed' | 'clicked') =>
        arms.reduce((total, [arm, counts]) => total + (arm === 'null' ? 0 : counts[of]), 0);
      const number = numbers[campaignId] ?? { users: 0, clicked: 0 };
      expect(number, campaignId).toEqual({ users: sum('exposed'), clicked: sum('clicked') });
    }

    const lines = async (kind: 'users' | 'events' | 'banner-events' | 'data-points') => {
      const found: Record<string, unknown>[] = [];
      for await (const line of exportLines(stage.stores[0]!, kind, workspaceId))
        found.push(line as Record<string, unknown>);
      return found;
    };
    const exported = await lines('data-points');
    expect(Object.fromEntries(exported.map((line) => [line['day'], line['data_points']]))).toEqual(
      Object.fromEntries(points),
    );
    expect((await lines('events')).length).toBe(people.flatMap(({ done }) => done).length);
    const stored = people.flatMap(({ seen }) => seen.filter(({ isTestSend }) => !isTestSend));
    expect((await lines('banner-events')).length).toBe(stored.length);
    expect((await lines('users')).length).toBe(people.filter(({ hasProfile }) => hasProfile).length);
    const { body } = await fromServer('/users/export/ids', { external_ids: USERS });
    for (const externalId of USERS) {
      const person = getPerson(externalId);
      const line = body.users.find((each: { external_id: string }) => each.external_id === externalId);
      expect(line !== undefined).toBe(person?.hasProfile ?? false);
      if (!person || !line) continue;
      const tallies = (getName: (each: Done) => string | undefined) =>
        Object.fromEntries(
          [
            ...Map.groupBy(
              person.done.filter((each) => getName(each) !== undefined),
              getName,
            ),
          ].flatMap(([name, all]) => {
            // The export covers the last 90 days.
            if (!all.some(({ ms }) => ms >= now - 90 * 24 * HOUR)) return [];
            return [
              [
                name,
                {
                  first: iso(Math.min(...all.map(({ ms }) => ms))),
                  last: iso(Math.max(...all.map(({ ms }) => ms))),
                  count: all.reduce((total, { count }) => total + count, 0),
                },
              ],
            ];
          }),
        );
      const byName = (list: { name: string }[] = []) =>
        Object.fromEntries(list.map(({ name, ...rest }) => [name, rest]));
      expect(byName(line.custom_events)).toEqual(tallies(({ event }) => event));
      expect(byName(line.purchases)).toEqual(tallies(({ product }) => product));
    }
    for (const store of stage.stores) expect(await store.verifyResults(workspaceId)).toEqual([]);
  };

  const doStep = async ({ user, what }: Step) => {
    const externalId = USERS[user]!;
    switch (what.do) {
      case 'visit': {
        const found = await visit(externalId, what);
        const events = found.flatMap(({ id, facts }) =>
          what.types
            .filter((type) => facts.variantId !== null || type === 'impression')
            .map((event_type, index) => ({
              id,
              event_type,
              timestamp: iso(now - what.lateHours * HOUR + index),
            })),
        );
        if (events.length > 0) await track(externalId, events, what.isBot);
        return;
      }
      case 'event': {
        if (what.isRepeat && sent.length > 0) {
          const { user: by, ...event } = inOneOrder(sent)[what.of % sent.length]!;
          await track(by, [event], what.isBot);
        } else if (banners.length > 0) {
          const { id } = inOneOrder(banners)[what.of % banners.length]!;
          const timestamp = iso(now - what.lateHours * HOUR);
          await track(externalId, [{ id, event_type: what.type, timestamp }], what.isBot);
        }
        return;
      }
      case 'deed': {
        const { name, alias, price, quantity, currency, lateHours } = what;
        const isPurchase = name === 'cup' || name === 'pot';
        const by = alias
          ? { user_alias: { alias_name: alias, alias_label: alias }, _update_existing_only: false }
          : { external_id: externalId };
        const time = iso(now - lateHours * HOUR);
        const answer = await fromServer('/users/track', {
          [isPurchase ? 'purchases' : 'events']: [
            isPurchase ? { ...by, product_id: name, price, quantity, currency, time } : { ...by, name, time },
          ],
        });
        expect(answer.status).toBe(201);
        const person = alias
          ? (ofAlias(alias) ?? make({ aliases: [alias], hasProfile: true }))
          : withProfile(externalId);
        const ms = Math.min(Date.parse(time), now);
        person.done.push(
          isPurchase
            ? { product: name, spent: price * quantity, count: quantity, currency, ms }
            : { event: name, spent: 0, count: 1, currency: null, ms },
        );
        addPoints(1);
        return;
      }
      case 'attributes': {
        const { tier, language } = what;
        const answer = await fromServer('/users/track', {
          attributes: [{ external_id: externalId, tier, language }],
        });
        expect(answer.status).toBe(201);
        Object.assign(withProfile(externalId), { tier, language });
        addPoints(1);
        return;
      }
      case 'merge': {
        const into = USERS[what.into]!;
        const answer = await fromServer('/users/merge', {
          merge_updates: [
            { identifier_to_merge: { external_id: externalId }, identifier_to_keep: { external_id: into } },
          ],
        });
        expect(answer.status).toBe(202);
        const [merged, kept] = [getPerson(externalId), getPerson(into)];
        if (!merged?.hasProfile || !kept?.hasProfile || merged === kept) return;
        become(kept, merged);
        people = people.filter((each) => each !== merged);
        return;
      }
      case 'identify': {
        const { alias } = what;
        const answer = await fromServer('/users/identify', {
          aliases_to_identify: [
            { external_id: externalId, user_alias: { alias_name: alias, alias_label: alias } },
          ],
        });
        expect(answer.status).toBe(201);
        const found = ofAlias(alias);
        if (!found || found.externalId !== null) return;
        const known = getPerson(externalId);
        if (known?.aliases.includes(alias)) return;
        if (known?.hasProfile) {
          become(known, found);
          people = people.filter((each) => each !== found);
        } else {
          // A user with only banner events becomes the user with the alias.
          if (known) become(found, known);
          people = people.filter((each) => each !== known);
          found.externalId = externalId;
        }
        return;
      }
      case 'delete': {
        const answer = await fromServer('/users/delete', { external_ids: [externalId] });
        expect(answer.body).toMatchObject({ deleted: getPerson(externalId) ? 1 : 0 });
        people = people.filter((each) => each.externalId !== externalId);
        return;
      }
      case 'restart':
        await Promise.all(replicas.map((each) => each.stop()));
        await Promise.all(stage.stores.map((store) => store.close()));
        stage.stores = await Promise.all(stage.addresses.map(openStore));
        replicas = await start();
        return;
      case 'edit':
        file = { ...file, ...what.file };
        for (const each of replicas) each.edit(getFile(workspaceId, timeZone, file));
        return;
      case 'look':
        await look();
    }
  };

  try {
    for (const group of getGroups(steps)) {
      // Distinct times, so that the first impression is unambiguous.
      now += group[0]!.pauseHours * HOUR + 10;
      const cookie = await signedIn();
      const alone = group.length === 1;
      // Reading results counts new goals, concurrently with writes.
      const looks = alone ? [] : replicas.map((each) => each.call('GET', '/api/results/daily', { cookie }));
      await Promise.all([...group.map(doStep), ...looks]);
    }
    now += 10;
    await look();
  } finally {
    await Promise.all(replicas.map((each) => each.stop()));
  }
};

const STAGES: { name: string; open(): Promise<string[]> }[] = [
  {
    name: 'SQLite',
    open: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'placard-audit-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      return [join(folder, 'placard.db')];
    },
  },
  {
    name: 'two replicas of PostgreSQL',
    open: async () => {
      const address = await aDatabase();
      return [address, address];
    },
  },
];

describe.each(STAGES)('the numbers of the Studio on $name', ({ open }) => {
  test(
    'equal an independent count of the sent events',
    async () => {
      const addresses = await open();
      const stage: Stage = { addresses, stores: await Promise.all(addresses.map(openStore)) };
      try {
        await fc.assert(
          fc.asyncProperty(
            fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }),
            fc.constantFrom('Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Chatham', 'UTC'),
            (steps, timeZone) => play(stage, steps, timeZone),
          ),
          { numRuns: times(3), endOnFailure: true },
        );
      } finally {
        await Promise.all(stage.stores.map((store) => store.close()));
      }
    },
    times(240_000),
  );
});
