import { describe, expect, test } from 'vitest';
import { describeAudience } from '../../../src/studio/campaign/describe-audience.ts';

describe('an audience description', () => {
  test.each([
    [null, 'Everyone.'],
    [{}, 'Everyone.'],
    [
      { 'custom_attributes.tier': { $in: ['gold', 'platinum'] } },
      'Users who match: tier is gold or platinum.',
    ],
    [{ 'campaigns.spring.clicks': { $exists: true } }, 'Users who match: clicked campaign “spring”.'],
    [
      { 'campaigns.spring.last_impression_days_ago': { $not: { $lte: 7 } } },
      'Users who match: not: saw campaign “spring” in the last 7 days.',
    ],
    [{ zip: 10_115 }, 'Users who match: zip is 10115.'],
    [{ zip: '10115' }, 'Users who match: zip is the text “10115”.'],
    [{ vip: { $in: ['true', true] } }, 'Users who match: vip is the text “true” or yes.'],
    [{ app_version: { $vgte: '10.0' } }, 'Users who match: app version is version 10.0 or later.'],
    [{ language: 'ar' }, 'Users who match: language is ar.'],
    [
      { $or: [{ 'purchases.teapot.count': { $gte: 1 } }, { 'events.viewed_product.count': { $gte: 3 } }] },
      'Users who match: bought “teapot”, or did “viewed product” 3 times or more.',
    ],
    [
      { 'events.cart_abandoned.last_days_ago': { $lte: 7 }, email_subscribe: { $ne: 'unsubscribed' } },
      'Users who match: did “cart abandoned” in the last 7 days; and email subscribe is not unsubscribed.',
    ],
    [
      { 'events.viewed.count': { $gte: 2 }, 'events.viewed.last_days_ago': { $lte: 30 } },
      'Users who match: did “viewed” twice or more, the last time in the last 30 days.',
    ],
    [
      { 'events.viewed.count': { $gte: 1 }, 'events.viewed.last_days_ago': { $lte: 1 } },
      'Users who match: did “viewed” in the last day.',
    ],
    [{ 'events.viewed.count': { $exists: false } }, 'Users who match: never did “viewed”.'],
    [{ $nor: [{ country: 'PL' }] }, 'Users who match: not: country is PL.'],
    [{ 'custom_attributes.name': { $regex: '^A' } }, 'Users who match: name matches {"$regex":"^A"}.'],
  ])('%j', (audience, words) => {
    expect(describeAudience(audience)).toBe(words);
  });
});
