import type * as z from 'zod';

/** What the description of the API adds to a route. */
export interface Operation {
  id: string;
  tag: 'Banners' | 'Users' | 'Campaigns' | 'Integrations';
  summary: string;
  description: string;
  request?: z.core.$ZodType;
  example?: unknown;
  /** Status of success, and what its body is. */
  success: number;
  answer: z.core.$ZodType;
  /** What a 400 means here, where there is one. */
  badRequest?: string;
  /** Whether it stores anything. */
  writes?: true;
  /** What a 404 means here, where the path itself is right. */
  notFound?: string;
}
