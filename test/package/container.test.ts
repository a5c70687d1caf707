// Builds and runs the image. Needs a container tool, the base image (or its registry) and the npm registry. Runs if
// PLACARD_CONTAINER names a tool, such as `podman` or `docker`, followed by flags for `run` if the machine needs them.
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../helpers/free-port.ts';
import { needs } from '../helpers/machine.ts';
import { packedPackage } from '../helpers/packed-package.ts';
import { patience } from '../helpers/patience.ts';

const [tool, ...flags] = process.env['PLACARD_CONTAINER']?.split(' ') ?? [];
const IMAGE = 'localhost/placard-test';

const containers = async (...args: string[]): Promise<string> =>
  // Podman's default image format has no health check.
  (
    await promisify(execFile)(tool!, args, { env: { ...process.env, BUILDAH_FORMAT: 'docker' } })
  ).stdout.trim();

test('the image runs without root on a read-only root file system, and exits with 0 when stopped', {
  timeout: patience(300_000),
  ...needs('apt-get install podman, and PLACARD_CONTAINER=podman npm test', tool !== undefined),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-image-'));
  const { tarball } = await packedPackage();
  await copyFile(tarball, join(folder, basename(tarball)));
  await cp('deploy/Containerfile', join(folder, 'Containerfile'));
  const build = ['build', '--network=host', '--file', join(folder, 'Containerfile'), '--tag', IMAGE, folder];
  await containers(...build);
  const port = String(await freePort());
  const workspace = `${resolve('demo/workspace.json')}:/etc/placard/workspace.json:ro`;
  const safety = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--network=host'];
  const settings = ['--env', `PORT=${port}`, '--env', 'HOST=127.0.0.1', '--volume', workspace];
  const id = await containers('run', '--detach', ...flags, ...safety, ...settings, IMAGE);
  onTestFinished(async () => {
    await containers('rm', '--force', id);
    await rm(folder, { recursive: true });
  });
  const ready = () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status, String);
  await expect.poll(ready, { timeout: patience(30_000) }).toBe(200);
  expect(await containers('exec', id, 'id', '-u')).toBe('1000');
  expect(await containers('inspect', '--format', '{{.Config.Healthcheck}}', id)).toContain('/readyz');
  await expect(containers('exec', id, 'touch', '/opt/placard/x')).rejects.toThrow('Read-only file system');
  await containers('stop', '--time', '20', id);
  expect(await containers('inspect', '--format', '{{.State.ExitCode}}', id)).toBe('0');
});
