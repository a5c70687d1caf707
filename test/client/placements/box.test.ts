import { beforeEach, expect, test, vi } from 'vitest';
import { collapseBox, createBoxes, holdBox } from '../../../src/client/placements/box.ts';
import { createBoxMemory } from '../../../src/client/placements/box-memory.ts';

beforeEach(() => {
  localStorage.clear();
  setWidth(1280);
});

const setWidth = (width: number) => vi.stubGlobal('innerWidth', width);

const anElement = (height = 0): HTMLElement => {
  const element = document.createElement('div');
  Object.defineProperty(element, 'offsetHeight', { value: height });
  return element;
};

const remember = (height: number, appId = 'app') =>
  createBoxMemory(createBoxes(appId), () => true).remember('home_hero', height);

test('a height that was remembered is reserved on the next visit', () => {
  remember(240.4);
  const element = anElement();
  createBoxes('app').reserve(element, 'home_hero');
  expect(element.style.minHeight).toBe('240px');
});

test('each width of the viewport remembers its own height', () => {
  remember(240);
  setWidth(400);
  expect(createBoxes('app').reserve(anElement(), 'home_hero')).toBeUndefined();
  remember(120);
  const narrow = anElement();
  createBoxes('app').reserve(narrow, 'home_hero');
  expect(narrow.style.minHeight).toBe('120px');
  setWidth(1300);
  const wide = anElement();
  createBoxes('app').reserve(wide, 'home_hero');
  expect(wide.style.minHeight).toBe('240px');
});

test('a box that the page declares, and that is large enough, is left alone', () => {
  remember(240);
  const element = anElement(240);
  expect(createBoxes('app').reserve(element, 'home_hero')).toBeUndefined();
  expect(element.style.minHeight).toBe('');
});

test('a place that had nothing to show reserves nothing', () => {
  remember(240);
  remember(0);
  expect(createBoxes('app').reserve(anElement(), 'home_hero')).toBeUndefined();
});

test('apps remember apart from each other', () => {
  remember(240, 'other');
  expect(createBoxes('app').reserve(anElement(), 'home_hero')).toBeUndefined();
});

test.each(['not json', '[]', 'null', '{"home_hero@3":"tall"}', '{"home_hero@3":-5}'])(
  'a damaged value (%s) reserves nothing and harms nothing',
  (damaged) => {
    localStorage.setItem('placard-boxes:app', damaged);
    const element = anElement();
    createBoxes('app').reserve(element, 'home_hero');
    expect(element.style.minHeight).toBe('');
  },
);

test('blocked storage costs the memory, and nothing else', () => {
  const blocked = () => {
    throw new DOMException('Denied', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: blocked, setItem: blocked, removeItem: blocked });
  const boxes = createBoxes('app');
  const memory = createBoxMemory(boxes, () => true);
  expect(boxes.reserve(anElement(), 'home_hero')).toBeUndefined();
  memory.remember('home_hero', 240);
  memory.forget();
  vi.unstubAllGlobals();
});

test('without consent nothing is remembered', () => {
  createBoxMemory(createBoxes('app'), () => false).remember('home_hero', 240);
  expect(localStorage).toHaveLength(0);
});

test('what is forgotten is reserved no more', () => {
  remember(240);
  const boxes = createBoxes('app');
  createBoxMemory(boxes, () => true).forget();
  expect(boxes.reserve(anElement(), 'home_hero')).toBeUndefined();
  expect(localStorage).toHaveLength(0);
});

test('a hold and a collapse put back exactly what the page had, importance included', () => {
  const element = anElement();
  element.style.setProperty('min-height', '10px', 'important');
  element.style.setProperty('padding', '4px');
  const release = holdBox(element, 300);
  expect(element.style.minHeight).toBe('300px');
  release();
  const expand = collapseBox(element);
  expect(element.style.getPropertyValue('padding')).toBe('0px');
  expand();
  expect(element.style.getPropertyValue('min-height')).toBe('10px');
  expect(element.style.getPropertyPriority('min-height')).toBe('important');
  expect(element.style.getPropertyValue('padding')).toBe('4px');
  expect(element.style.getPropertyValue('height')).toBe('');
});
