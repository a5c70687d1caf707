import { type CampaignText, variantName } from '../../campaign/campaign-text.ts';
import { labelOf } from '../../campaign/member-words.ts';
import type { DraftCheck } from '../../server/draft-check.ts';
import './checks.css';

/** Where a check points to, as people would name it. */
const whereOf = ({ path }: DraftCheck, campaign: CampaignText): string => {
  const [first, second, third, fourth] = path;
  if (first === undefined) return '';
  if (first !== 'variants') return labelOf(String(first));
  const variant = campaign.variants[Number(second)];
  const name = variant && campaign.variants.length > 1 ? `${variantName(variant)} · ` : '';
  return third === undefined ? name : name + labelOf(String(fourth ?? third));
};

interface CheckListProps {
  checks: readonly DraftCheck[];
  campaign: CampaignText;
  onGo?(check: DraftCheck): void;
}

/** What keeps the draft from being published, then what should be looked at. */
export const CheckList = ({ checks, campaign, onGo }: CheckListProps) => {
  const errors = checks.filter(({ severity }) => severity === 'error').length;
  return (
    <section class="checks" aria-labelledby="checks-title">
      <h2 id="checks-title">
        {errors > 0
          ? `${errors} ${errors === 1 ? 'thing' : 'things'} to do before it can be published`
          : checks.length > 0
            ? 'Ready, with something to look at'
            : 'Ready to publish'}
      </h2>
      {checks.length > 0 && (
        <ul>
          {checks.map((check) => (
            <li key={JSON.stringify(check.path)} data-severity={check.severity}>
              <span class="visually-hidden">{check.severity}: </span>
              {onGo ? (
                <button type="button" class="link" onClick={() => onGo(check)}>
                  {whereOf(check, campaign) || 'Campaign'}
                </button>
              ) : (
                <b>{whereOf(check, campaign) || 'Campaign'}</b>
              )}
              : {check.words}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};
