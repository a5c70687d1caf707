import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../src/testing/index.ts';

describe('the virtual clock', () => {
  it('stands still until it is advanced', async () => {
    const clock = createVirtualClock(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
  });

  it('runs timers in order of time, then of creation', async () => {
    const clock = createVirtualClock();
    const ran: string[] = [];
    clock.setTimeout(() => ran.push('late'), 20);
    clock.setTimeout(() => ran.push('first'), 10);
    clock.setTimeout(() => ran.push('second'), 10);
    await clock.advance(19);
    expect(ran).toEqual(['first', 'second']);
    await clock.advance(1);
    expect(ran).toEqual(['first', 'second', 'late']);
  });

  it('shows each timer its own time', async () => {
    const clock = createVirtualClock(0);
    const seen: number[] = [];
    clock.setTimeout(() => {
      seen.push(clock.now());
      clock.setTimeout(() => seen.push(clock.now()), 5);
    }, 10);
    await clock.advance(100);
    expect(seen).toEqual([10, 15]);
    expect(clock.now()).toBe(100);
  });

  it('lets promise chains finish between two timers', async () => {
    const clock = createVirtualClock();
    const ran: string[] = [];
    clock.setTimeout(async () => {
      await new Response('x').text();
      ran.push('chain of the first');
    }, 1);
    clock.setTimeout(() => ran.push('second'), 2);
    await clock.advance(2);
    expect(ran).toEqual(['chain of the first', 'second']);
  });

  it('skips canceled timers, and counts pending ones', async () => {
    const clock = createVirtualClock();
    let ran = 0;
    const id = clock.setTimeout(() => ran++, 1);
    const cancel = clock.after(1, () => ran++);
    clock.after(1, () => ran++);
    expect(clock.pending()).toBe(3);
    clock.clearTimeout(id);
    cancel();
    await clock.advance(1);
    expect([ran, clock.pending()]).toEqual([1, 0]);
  });

  it('changes the device clock without the monotonic clock', async () => {
    const clock = createVirtualClock(1_000);
    let ran = false;
    clock.setTimeout(() => {
      ran = true;
    }, 50);
    clock.jump(-500);
    expect([clock.now(), clock.monotonic(), ran]).toEqual([500, 0, false]);
  });

  it('runs timers until a condition holds, and throws if it never does', async () => {
    const clock = createVirtualClock();
    let ticks = 0;
    const tick = () => {
      ticks += 1;
      clock.setTimeout(tick, 1_000);
    };
    tick();
    await clock.until(() => ticks === 5);
    expect(clock.monotonic()).toBe(4_000);
    await expect(clock.until(() => ticks === 50, 10_000)).rejects.toThrow('after 10000 ms of virtual time');
    await expect(createVirtualClock().until(() => false)).rejects.toThrow('no timer is pending');
  });
});
