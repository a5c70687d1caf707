import { text } from './json-schemas.ts';

/** What several operations share. */
export const components = {
  schemas: {
    Refusal: {
      type: 'object',
      description: 'A refused request. `errors` repeats the text, or names the objects at fault.',
      required: ['message', 'errors'],
      properties: {
        message: text,
        error: { ...text, description: 'The same text, where the body was no JSON.' },
        errors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['type'],
            properties: { type: text, input_array: text, index: { type: 'integer' } },
          },
        },
      },
    },
    SyncRefusal: { type: 'object', required: ['error'], properties: { error: text } },
    BannerTrackRefusal: {
      type: 'object',
      required: ['message'],
      properties: {
        message: text,
        errors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['type', 'index'],
            properties: { type: text, index: { type: 'integer' } },
          },
        },
      },
    },
  },
  securitySchemes: {
    clientKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'A client key: banners alone. It may be part of an app; it proves the app, not the user.',
    },
    serverKey: { type: 'http', scheme: 'bearer', description: 'A server key: everything but banners.' },
  },
};
