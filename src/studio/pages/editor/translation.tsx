import type { VariantJson } from '../../campaign/campaign-json.ts';
import { getFieldLabel } from '../../campaign/describe-fields.ts';
import { findTranslation, languageName, translatable, translate } from '../../campaign/translations.ts';
import { checksAt, describedBy, Field, hasError } from '../components/fields.tsx';
import type { Editor } from './editor-state.ts';
import { ImageButton } from './images.tsx';
import { WordsInput } from './text-with-variables.tsx';

interface TranslationProps {
  editor: Editor;
  variant: VariantJson;
  language: string;
}

/** Translations of a variant next to the source texts. An empty field shows the fallback text. */
export const Translation = ({ editor, variant, language }: TranslationProps) => {
  const { variants, placements, language: own } = editor.campaign.value;
  const index = variants.findIndex(({ variant_id }) => variant_id === variant.variant_id);
  const checks = checksAt(editor.checks.value, 'variants', index, 'translations', language);
  return (
    <div class="stack">
      {translatable(variant).map(({ name, isNeeded }) => {
        const id = `property-${name}`;
        const source = String(variant.properties[name]!.value);
        const found = checks.filter(({ path }) => path[4] === name);
        const put = (text: string) =>
          editor.changeVariant(
            variant.variant_id,
            (before) => translate(before, language, name, text),
            `${language} ${name}`,
          );
        return (
          <Field
            key={name}
            id={id}
            label={isNeeded ? getFieldLabel(name) : `${getFieldLabel(name)} (optional)`}
            checks={found}
            aside={
              variant.properties[name]!.type === 'image' && (
                <ImageButton label={getFieldLabel(name)} placements={placements} onChoose={put} />
              )
            }
            help={
              <>
                {languageName(own ?? 'en')}: <bdi lang={own ?? undefined}>{source}</bdi>
              </>
            }
          >
            <WordsInput
              id={id}
              value={variant.translations?.[language]?.[name] ?? ''}
              rows={name === 'body' ? 3 : 1}
              isLine={name !== 'body'}
              language={language}
              placeholder={findTranslation(variant, language, name) ?? source}
              isInvalid={hasError(found)}
              describedBy={describedBy(id)}
              onChange={put}
            />
          </Field>
        );
      })}
    </div>
  );
};
