import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { anApplication, packedPackage } from '../helpers/packed-package.ts';

const run = promisify(execFile);
const TSC = resolve('node_modules/.bin/tsc');
const STRICT = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [] as string[],
};

// The hook may take as long as packing.
beforeAll(packedPackage);

interface Application {
  files: Record<string, string>;
  /** Extra packages by import name. */
  packages?: Record<string, string>;
  /** Compiler options that differ from a web page's. */
  options?: Partial<typeof STRICT> & { jsx?: string };
}

/** Compiler errors of an application against the packed package, with `skipLibCheck` off. */
const faults = async ({ files, packages = {}, options = {} }: Application): Promise<string[]> => {
  const folder = await anApplication(packages);
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const config = { compilerOptions: { ...STRICT, ...options }, include: ['*'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = await run(TSC, ['-p', folder], { cwd: folder }).catch(
    (failure: { stdout: string }) => failure,
  );
  return stdout.split('\n').filter((line) => line !== '');
};

const REACT_APP = `
import { createPlacard } from 'placard';
import { providePlacard } from 'placard/element/react';
import { Placement, PlacardProvider, useBanner } from 'placard/react';
import { hero } from 'placard/templates';
import type { ReactElement } from 'react';

const placard = createPlacard({ endpoint: 'http://127.0.0.1:8787', apiKey: 'k', appId: 'a', appVersion: '1', userId: 'u' });
providePlacard(placard);

const Headline = () => <h1>{useBanner('home_hero')?.placementId}</h1>;

export const App = (): ReactElement => (
  <PlacardProvider placard={placard}>
    <Headline />
    <Placement placementId="home_hero" hook={hero} as="section" className="hero" />
    <Placement placementId="sidebar" render={(banner, slot) => <button onClick={() => void slot.click()}>{banner.id}</button>} />
    <placard-banner placement="home_hero" template="hero" className="hero" hook={hero} placard={placard} />
    {/* @ts-expect-error a placement is text */}
    <placard-banner placement={7} />
    {/* @ts-expect-error a placement draws with a hook, or renders */}
    <Placement placementId="home_hero" />
  </PlacardProvider>
);
`;

const VUE_APP = `
import { createPlacard } from 'placard';
import { providePlacard } from 'placard/element/vue';
import { hero } from 'placard/templates';
import { Placement, providePlacard as provide, useBanner } from 'placard/vue';
import { createApp, type GlobalComponents, h } from 'vue';

const placard = createPlacard({ endpoint: 'http://127.0.0.1:8787', apiKey: 'k', appId: 'a', appVersion: '1', userId: 'u' });
providePlacard(placard, { hero });

type Props = InstanceType<GlobalComponents['placard-banner']>['$props'];
export const props: Props = { placement: 'home_hero', template: 'hero', class: 'hero', hook: hero, placard };
// @ts-expect-error a placement is text
export const wrong: Props = { placement: 7 };

type Drawn = Parameters<NonNullable<InstanceType<typeof Placement>['$slots']['default']>>[0];
const draw = { default: ({ banner, slot }: Drawn) => h('button', { onClick: () => slot.click() }, banner.id) };
const app = createApp({
  setup: () => ({ id: useBanner('home_hero').value?.placementId }),
  render: () => [
    h(Placement, { placementId: 'home_hero', hook: hero, class: 'hero' }),
    h(Placement, { placementId: 'sidebar' }, draw),
    // @ts-expect-error a component has a placement
    h(Placement, {}),
  ],
});
provide(placard, app);
`;

const OPTIONAL_TYPES = `
import type { BannerBootstrap, DeliveryChoices, PlacardOptions } from 'placard';
import type { DevtoolsOptions } from 'placard/devtools';
import type { PlacementProps } from 'placard/react';
import { createRestClient, type FetchBannersOptions, type RestClientOptions, type SignUserTokenOptions, type TrackInput, type TrackOptions } from 'placard/server';
import type { InstallDeliveryOptions } from 'placard/service-worker';
import type { TemplateOptions } from 'placard/templates';
import type { FakeServiceOptions } from 'placard/testing';
import type { WebviewHostOptions } from 'placard/webview';

/** Names of the optional members that do not take \`undefined\`. */
type Strict<T> = T extends unknown
  ? { [Name in keyof T]-?: {} extends Pick<T, Name> ? ({ [Each in Name]: undefined } extends Pick<T, Name> ? never : Name) : never }[keyof T]
  : never;
type Rest = ReturnType<typeof createRestClient>;
type Some<Name extends keyof PlacardOptions> = NonNullable<PlacardOptions[Name]>;
export const found: [
  Strict<PlacardOptions>, Strict<Some<'platform'>>, Strict<Some<'banners'>>, Strict<DeliveryChoices>, Strict<NonNullable<DeliveryChoices['guarantee']>>,
  Strict<InstallDeliveryOptions>, Strict<TemplateOptions>, Strict<WebviewHostOptions>, Strict<DevtoolsOptions>, Strict<FakeServiceOptions>,
  Strict<Pick<PlacementProps, 'as' | 'hook' | 'render'>>, Strict<RestClientOptions>, Strict<FetchBannersOptions>, Strict<SignUserTokenOptions>,
  Strict<TrackOptions>, Strict<TrackInput>, Strict<Parameters<Rest['identify']>[0]>, Strict<Parameters<Rest['exportUsers']>[0]>,
][number] extends never ? 'none' : 'some' = 'none';

/** As frameworks check what a server sends to the page. */
type Sent<T> = unknown extends T
  ? 'unknown is not JSON'
  : T extends string | number | boolean | null ? T
  : T extends (...parameters: never[]) => unknown ? 'a function is not JSON'
  : T extends readonly (infer Each)[] ? readonly Sent<Each>[]
  : T extends object ? { [Name in keyof T]: Sent<T[Name]> } : 'not JSON';
export const send = (bootstrap: BannerBootstrap): Sent<BannerBootstrap> => bootstrap;
// @ts-expect-error the check itself
export const sendAnything = (anything: { value: unknown }): Sent<{ value: unknown }> => anything;
// @ts-expect-error the check itself
export const strict: Strict<{ name?: string }> extends never ? 'none' : 'some' = 'none';
`;

describe('the declarations of the packed package compile, without skipLibCheck,', () => {
  test('for a page without a framework', async () => {
    const page = `
      import { createPlacard, definePlacement } from 'placard';
      import { openDevtools } from 'placard/devtools';
      import { providePlacard } from 'placard/element';
      import { createTemplates } from 'placard/templates';
      import { createWebviewHost } from 'placard/webview';
      export const all = [createPlacard, definePlacement, providePlacard, openDevtools, createTemplates, createWebviewHost];
      document.querySelector('placard-banner')!.hook = createTemplates().hero;`;
    expect(await faults({ files: { 'page.ts': page } })).toEqual([]);
  });

  test('for undefined options, and for a bootstrap that must be JSON', async () => {
    const files = { 'types.ts': OPTIONAL_TYPES };
    const packages = { '@types/react': '@types/react', '@types/node': '@types/node' };
    const options = { types: ['node'], lib: ['es2024', 'dom', 'dom.iterable', 'esnext.disposable'] };
    expect(await faults({ files, packages, options })).toEqual([]);
  });

  test('for a backend', async () => {
    const backend = `
      import { createRestClient } from 'placard/server';
      import { createService, openStore } from 'placard/service';
      import { createFakeService } from 'placard/testing';
      export const all = [createRestClient, createService, openStore, createFakeService];`;
    const options = { types: ['node'], lib: ['es2024', 'dom', 'dom.iterable', 'esnext.disposable'] };
    expect(
      await faults({ files: { 'backend.ts': backend }, packages: { '@types/node': '@types/node' }, options }),
    ).toEqual([]);
  });

  test('for a service worker, without DOM types', async () => {
    const worker = `
      import { installDelivery } from 'placard/service-worker';
      installDelivery({ endpoint: 'http://127.0.0.1:8787', apiKey: 'k', appId: 'a' });`;
    const options = { lib: ['es2022', 'webworker'] };
    expect(await faults({ files: { 'sw.ts': worker }, options })).toEqual([]);
  });

  test.each([
    ['18', 'types-react-18'],
    ['19', '@types/react'],
  ])('for an application of React %s', async (_, types) => {
    const options = { jsx: 'react-jsx', types: ['react'] };
    expect(
      await faults({ files: { 'app.tsx': REACT_APP }, packages: { '@types/react': types }, options }),
    ).toEqual([]);
  });

  test('for an application of Vue', async () => {
    expect(await faults({ files: { 'app.ts': VUE_APP }, packages: { vue: 'vue' } })).toEqual([]);
  });
});

test('the declarations of the packed package document every export', async () => {
  const folder = await anApplication({
    '@types/react': '@types/react',
    '@types/node': '@types/node',
    react: 'react',
    vue: 'vue',
  });
  onTestFinished(() => rm(folder, { recursive: true }));
  // Declarations in `node_modules` would count as external.
  await cp((await packedPackage()).folder, folder, { recursive: true });
  const { entryPoints, ...options } = JSON.parse(await readFile('docs/api/typedoc.json', 'utf8'));
  const settings = {
    ...options,
    entryPoints: entryPoints.map((path: string) => path.replace('../../', '')),
    emit: 'none',
    treatWarningsAsErrors: true,
    // The tests above compile the declarations.
    skipErrorChecking: true,
  };
  await writeFile(join(folder, 'typedoc.json'), JSON.stringify(settings));
  const config = (await readFile('docs/api/tsconfig.json', 'utf8')).replace('../../', '');
  await writeFile(join(folder, 'tsconfig.json'), config);
  const typedoc = resolve('docs/api/node_modules/.bin/typedoc');
  const { stdout, stderr, code } = await run(typedoc, [], { cwd: folder }).then(
    (output) => ({ ...output, code: 0 }),
    (failure: { stdout: string; stderr: string; code: number }) => failure,
  );
  expect(code, stdout + stderr).toBe(0);
});
