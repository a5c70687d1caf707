import * as z from 'zod';
import { campaignJsonSchema, HttpError } from '../../../service/index.ts';
import { TEMPLATE_CATALOGUE } from '../../../templates/index.ts';
import { requiredSampleSize } from '../../statistics/sample-size.ts';
import { get, post } from '../route.ts';

/** Returns the schema and reference data for programs that create campaigns. */
export const readSchema = get('/api/schema', 'view', () => ({
  campaign: campaignJsonSchema(),
  templates: TEMPLATE_CATALOGUE.map(({ name, needed, properties }) => ({
    name,
    needed,
    properties: properties.map((property) => ({
      name: property.name,
      type: property.type,
      help: property.help,
      maxCharacters: property.most ?? null,
      choices: property.choices ?? null,
    })),
  })),
}));

const sampleSizeBody = z.strictObject({
  campaign: z.looseObject({
    variants: z.array(
      z.looseObject({
        variant_id: z.string(),
        name: z.string().nullish(),
        weight: z.number().nonnegative().nullish(),
      }),
    ),
    conversions: z.array(z.looseObject({})).nullish(),
    control_percentage: z.number().min(0).max(100).nullish(),
  }),
  rate: z.number().gt(0).lt(1),
  lift: z.number(),
});

/** Returns the total number of users who must see a variant to detect a change of this size with 80% power. */
export const readSampleSize = post('/api/sample-size', 'view', sampleSizeBody, ({ body }) => {
  const { campaign, rate, lift } = body;
  const users = requiredSampleSize(campaign, rate, lift);
  if (users !== null) return { users };
  throw new HttpError(
    422,
    'Nothing to compare. Add a variant, or a control group and a goal; the rate with its lift must be between 0 and 1.',
  );
});

/** Records a tool call in the audit log before the tool runs. */
export const recordToolCall = post(
  '/api/tool-calls',
  'view',
  z.strictObject({
    tool: z.string().regex(/^[a-z_]{1,64}$/),
    /** Subject, for example a campaign ID. */
    subject: z.string().max(200),
  }),
  async ({ body: { tool, subject }, audit }) => {
    await audit('tool.call', subject, tool);
  },
);
