import { describe, expect, test } from 'vitest';
import { describeAudience } from '../../../src/studio/campaign/describe-audience.ts';

describe('an audience description', () => {
  test.each([
    [null, 'Everyone.'],
    [{}, 'Everyone.'],
    [
      { 'custom_attributes.tier': { $in: ['gold', 'platinum'] } },
      'People of whom this is true: tier is gold or platinum.',
    ],
    [
      { 'campaigns.spring.clicks': { $exists: true } },
      'People of whom this is true: clicked campaign “spring”.',
    ],
    [
      { 'campaigns.spring.last_impression_days_ago': { $not: { $lte: 7 } } },
      'People of whom this is true: not: saw campaign “spring” in the last 7 days.',
    ],
    [{ zip: 10_115 }, 'People of whom this is true: zip is 10115.'],
    [{ zip: '10115' }, 'People of whom this is true: zip is the text “10115”.'],
    [{ vip: { $in: ['true', true] } }, 'People of whom this is true: vip is the text “true” or yes.'],
    [
      { app_version: { $vgte: '10.0' } },
      'People of whom this is true: app version is version 10.0 or later.',
    ],
    [{ language: 'ar' }, 'People of whom this is true: language is ar.'],
    [
      { $or: [{ 'purchases.teapot.count': { $gte: 1 } }, { 'events.viewed_product.count': { $gte: 3 } }] },
      'People of whom this is true: bought “teapot”, or did “viewed product” 3 times or more.',
    ],
    [
      { 'events.cart_abandoned.last_days_ago': { $lte: 7 }, email_subscribe: { $ne: 'unsubscribed' } },
      'People of whom this is true: did “cart abandoned” in the last 7 days; and email subscribe is not unsubscribed.',
    ],
    [
      { 'events.viewed.count': { $gte: 2 }, 'events.viewed.last_days_ago': { $lte: 30 } },
      'People of whom this is true: did “viewed” twice or more, the last time in the last 30 days.',
    ],
    [
      { 'events.viewed.count': { $gte: 1 }, 'events.viewed.last_days_ago': { $lte: 1 } },
      'People of whom this is true: did “viewed” in the last day.',
    ],
    [{ 'events.viewed.count': { $exists: false } }, 'People of whom this is true: never did “viewed”.'],
    [{ $nor: [{ country: 'PL' }] }, 'People of whom this is true: not: country is PL.'],
    [
      { 'custom_attributes.name': { $regex: '^A' } },
      'People of whom this is true: name fits {"$regex":"^A"}.',
    ],
  ])('%j', (audience, words) => {
    expect(describeAudience(audience)).toBe(words);
  });
});
