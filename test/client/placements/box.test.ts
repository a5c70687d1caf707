import { beforeEach, expect, test, vi } from 'vitest';
import { type MountedSlot, UNDECIDED } from '../../../src/client/placements/slot.ts';
import { createBoxMemory, createSlotHeights } from '../../../src/client/placements/slot-heights.ts';
import { createSlotSizes, holdBox } from '../../../src/client/placements/slot-sizes.ts';

beforeEach(() => {
  localStorage.clear();
});

const anElement = (height = 0, width = 600): HTMLElement => {
  const element = document.createElement('div');
  Object.defineProperties(element, { offsetHeight: { value: height }, offsetWidth: { value: width } });
  return element;
};

const remember = (height: number, width = 600, appId = 'app') =>
  createBoxMemory(createSlotSizes(appId), () => true).remember('home_hero', anElement(height, width));

test('reserves a stored height on the next visit', () => {
  remember(240);
  const element = anElement();
  createSlotSizes('app').reserve(element, 'home_hero');
  expect(element.style.minHeight).toBe('240px');
});

test('stores the height per width, so that a card of a wide slot reserves no excess height in a narrow slot', () => {
  remember(240, 600);
  const reserved = (width: number) => {
    const element = anElement(0, width);
    createSlotSizes('app').reserve(element, 'home_hero');
    return element.style.minHeight;
  };
  expect(reserved(300)).toBe('');
  remember(120, 300);
  expect(reserved(300)).toBe('120px');
  expect(reserved(600)).toBe('240px');
  // A scrollbar does not change the slot.
  expect(reserved(585)).toBe('240px');
});

test('does not change a box if the page declares one that is large enough', () => {
  remember(240);
  const element = anElement(240);
  expect(createSlotSizes('app').reserve(element, 'home_hero')).toBeUndefined();
  expect(element.style.minHeight).toBe('');
});

test('does not reserve a height for a placement without a banner', () => {
  remember(240);
  createBoxMemory(createSlotSizes('app'), () => true).remember('home_hero', anElement(100), false);
  expect(createSlotSizes('app').reserve(anElement(), 'home_hero')).toBeUndefined();
});

test('stores heights per app', () => {
  remember(240, 600, 'other');
  expect(createSlotSizes('app').reserve(anElement(), 'home_hero')).toBeUndefined();
});

test.each(['not json', '[]', 'null', '{"home_hero@74":"tall"}', '{"home_hero@74":-5}'])(
  'a corrupt value (%s) does not reserve a height or throw',
  (damaged) => {
    localStorage.setItem('placard-boxes:app', damaged);
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
  const boxes = createSlotSizes('app');
  const memory = createBoxMemory(boxes, () => true);
  expect(boxes.reserve(anElement(), 'home_hero')).toBeUndefined();
  memory.remember('home_hero', anElement(240));
  boxes.forget();
  vi.unstubAllGlobals();
});

test('does not store heights without consent', () => {
  createBoxMemory(createSlotSizes('app'), () => false).remember('home_hero', anElement(240));
  expect(localStorage).toHaveLength(0);
});

test('does not reserve a removed height', () => {
  remember(240);
  const boxes = createSlotSizes('app');
  boxes.forget();
  expect(boxes.reserve(anElement(), 'home_hero')).toBeUndefined();
  expect(localStorage).toHaveLength(0);
});

test('a hold and a collapse restore the page’s styles exactly, with their importance', () => {
  const element = anElement();
  element.style.setProperty('min-height', '10px', 'important');
  element.style.setProperty('padding', '4px');
  const release = holdBox(element, 300);
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
