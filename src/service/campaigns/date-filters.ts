import { type FilterImplOptions, filters, type Liquid } from 'liquidjs';
import { parseDate } from '../users/dates.ts';

const NAMES = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'];

type Filter = Extract<FilterImplOptions, (...given: never[]) => unknown>;

/** liquidjs reads a text without a zone in the machine's. Here it is UTC, on whatever machine (contract 3.8). */
export const readDatesInUtc = (liquid: Liquid): void => {
  for (const name of NAMES) {
    const filter = filters[name] as Filter;
    liquid.registerFilter(name, function (value, ...given) {
      const moment = typeof value === 'string' ? parseDate(value) : null;
      return filter.call(this, moment === null ? value : new Date(moment), ...given);
    });
  }
};
