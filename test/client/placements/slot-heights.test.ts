import { beforeEach, expect, test, vi } from 'vitest';
import { type MountedSlot, UNDECIDED } from '../../../src/client/placements/slot.ts';
import { createSlotHeights, storeHeight } from '../../../src/client/placements/slot-heights.ts';
import { createSlotSizes, holdHeight } from '../../../src/client/placements/slot-sizes.ts';

beforeEach(() => {
  localStorage.clear();
});

const anElement = (height = 0, width = 600): HTMLElement => {
  const element = document.createElement('div');
  Object.defineProperties(element, { offsetHeight: { value: height }, offsetWidth: { value: width } });
  return element;
};

const store = (height: number, width = 600, appId = 'app') =>
  storeHeight(createSlotSizes(appId), 'home_hero', anElement(height, width));

test('reserves a stored height on the next visit', () => {
  store(240);
  const element = anElement();
  createSlotSizes('app').reserve(element, 'home_hero');
  expect(element.style.minHeight).toBe('240px');
});

test('stores the height per width, so that a card of a wide slot reserves no excess height in a narrow slot', () => {
  store(240, 600);
  const reserved = (width: number) => {
    const element = anElement(0, width);
    createSlotSizes('app').reserve(element, 'home_hero');
    return element.style.minHeight;
  };
  expect(reserved(300)).toBe('');
  store(120, 300);
  expect(reserved(300)).toBe('120px');
  expect(reserved(600)).toBe('240px');
  // A scrollbar does not change the slot.
  expect(reserved(585)).toBe('240px');
});

test('does not change the height if the page declares one that is large enough', () => {
  store(240);
  const element = anElement(240);
  expect(createSlotSizes('app').reserve(element, 'home_hero')).toBeUndefined();
  expect(element.style.minHeight).toBe('');
});

test('does not reserve a height for a placement without a banner', () => {
  store(240);
  storeHeight(createSlotSizes('app'), 'home_hero', anElement(100), false);
  expect(createSlotSizes('app').reserve(anElement(), 'home_hero')).toBeUndefined();
});

test('stores heights per app', () => {
  store(240, 600, 'other');
  expect(createSlotSizes('app').reserve(anElement(), 'home_hero')).toBeUndefined();
});

test.each(['not json', '[]', 'null', '{"home_hero@74":"tall"}', '{"home_hero@74":-5}'])(
  'a corrupt value (%s) does not reserve a height or throw',
  (damaged) => {
    localStorage.setItem('placard-heights:app', damaged);
    const element = anElement();
    createSlotSizes('app').reserve(element, 'home_hero');
    expect(element.style.minHeight).toBe('');
  },
);

test('blocked storage does not affect placements, except that heights are not stored', () => {
  const blocked = () => {
    throw new DOMException('Denied', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: blocked, setItem: blocked, removeItem: blocked });
  const sizes = createSlotSizes('app');
  expect(sizes.reserve(anElement(), 'home_hero')).toBeUndefined();
  storeHeight(sizes, 'home_hero', anElement(240));
  sizes.clear();
  vi.unstubAllGlobals();
});

test('does not reserve a removed height', () => {
  store(240);
  const sizes = createSlotSizes('app');
  sizes.clear();
  expect(sizes.reserve(anElement(), 'home_hero')).toBeUndefined();
  expect(localStorage).toHaveLength(0);
});

test('a hold and a collapse restore the page’s styles exactly, with their importance', () => {
  const element = anElement();
  element.style.setProperty('min-height', '10px', 'important');
  element.style.setProperty('padding', '4px');
  const release = holdHeight(element, 300);
  expect(element.style.minHeight).toBe('300px');
  release();
  const slot = { element, state: UNDECIDED } as MountedSlot;
  createSlotHeights(() => true).resize(slot);
  expect(element.style.getPropertyValue('padding')).toBe('0px');
  slot.expand!();
  expect(element.style.getPropertyValue('min-height')).toBe('10px');
  expect(element.style.getPropertyPriority('min-height')).toBe('important');
  expect(element.style.getPropertyValue('padding')).toBe('4px');
  expect(element.style.getPropertyValue('height')).toBe('');
});
