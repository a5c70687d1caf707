import type { PropertyType } from '../../protocol/index.ts';
import type { PersonaliseContext } from './personalise-context.ts';
import { UnfilledError } from './unfilled.ts';

/** Fills in a property's value for one user; throws where its template cannot be rendered. */
export type Fill = (context: PersonaliseContext) => unknown;

/** A property of a variant: its value, or what makes it for one user. */
export type Property = { name: string; type: PropertyType } & ({ value: unknown } | { fill: Fill });

/** A banner's `properties` as JSON for one user; throws an `UnfilledError` where one of them cannot be filled in. */
export type WriteProperties = (context: () => PersonaliseContext) => string;

/** What is the same for everyone is written once; between it stands what is made for each. */
export const compileProperties = (properties: readonly Property[]): WriteProperties => {
  const parts: { before: string; name: string; fill: Fill }[] = [];
  let text = '{';
  for (const [index, property] of properties.entries()) {
    const { name, type } = property;
    text += `${index > 0 ? ',' : ''}${JSON.stringify(name)}:{"type":${JSON.stringify(type)},"value":`;
    if ('fill' in property) {
      parts.push({ before: text, name, fill: property.fill });
      text = '';
    } else text += JSON.stringify(property.value);
    text += '}';
  }
  const end = `${text}}`;
  if (parts.length === 0) return () => end;
  return (contextOf) => {
    const context = contextOf();
    let written = '';
    for (const { before, name, fill } of parts) {
      try {
        written += before + JSON.stringify(fill(context));
      } catch (error) {
        throw new UnfilledError(name, error);
      }
    }
    return written + end;
  };
};
