import { computed, signal } from '@preact/signals';
import type { CampaignText, VariantText } from '../../campaign/campaign-text.ts';
import { mergeCampaigns } from '../../campaign/merge-campaigns.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import type { CampaignRow, DraftRow } from '../../server/routes/campaigns.ts';
import type { SavedDraft } from '../../server/routes/drafts.ts';
import { ApiError, call, wordsOf } from '../call.ts';
import { announce } from '../parts/problem.tsx';
import { signedIn } from '../shell/session.ts';

/** Changes of one field within so long are one step back. */
const STEP_MS = 1_000;
const MAX_STEPS = 100;

/** What there was before, to go back to and forth. */
const createSteps = <Value>() => {
  const past = signal<Value[]>([]);
  const future = signal<Value[]>([]);
  let last = { mark: '', at: 0 };
  return {
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
    /** Keeps what is about to be changed. Changes with one `mark` that follow each other closely are one step. */
    keep(before: Value, mark = '') {
      const at = Date.now();
      const isSameStep = mark !== '' && mark === last.mark && at - last.at < STEP_MS;
      last = { mark, at };
      if (!isSameStep) past.value = [...past.value.slice(-MAX_STEPS), before];
      future.value = [];
    },
    /** Nothing from before is gone back to. */
    forget() {
      past.value = [];
      future.value = [];
    },
    /** The step before, in exchange for what there is now; `undefined` where there is none. */
    back(now: Value): Value | undefined {
      const before = past.value.at(-1);
      if (before === undefined) return undefined;
      past.value = past.value.slice(0, -1);
      future.value = [...future.value, now];
      return before;
    },
    forth(now: Value): Value | undefined {
      const after = future.value.at(-1);
      if (after === undefined) return undefined;
      future.value = future.value.slice(0, -1);
      past.value = [...past.value, now];
      return after;
    },
  };
};

const keyOf = (campaignId: string) => `placard-unsaved:${signedIn().workspace.id}:${campaignId}`;

/** A change that the server does not have yet, and what it was made over. */
interface Unsaved {
  revision: string | null;
  basedOn: number;
  campaign: CampaignText;
}

/** Keeps a change until the server has it: a page that is closed without a connection would lose it. */
const keepUnsaved = (campaignId: string, unsaved: Unsaved): void => {
  try {
    localStorage.setItem(keyOf(campaignId), JSON.stringify(unsaved));
  } catch {
    // Storage is full or switched off: the change is still on its way to the server.
  }
};

const forgetUnsaved = (campaignId: string): void => {
  try {
    localStorage.removeItem(keyOf(campaignId));
  } catch {
    // Switched off: there is nothing to forget.
  }
};

const unsavedOf = (campaignId: string): Unsaved | null => {
  try {
    return JSON.parse(localStorage.getItem(keyOf(campaignId)) ?? 'null');
  } catch {
    // Storage is switched off, or holds what no version of this page has written.
    return null;
  }
};

/** Pause in typing after which a draft is saved. */
const SAVE_MS = 500;

export type SaveState = 'saved' | 'waiting' | 'saving' | 'failed' | 'conflict';

/**
 * A campaign being edited. Every change is saved as a draft over the revision that this page knows; where somebody else
 * was faster nothing is saved until the operator has chosen.
 */
export const createEditor = (row: CampaignRow, isReadOnly: boolean) => {
  const path = `/api/drafts/${encodeURIComponent(row.id)}`;
  const original = (row.draft ?? row.published)!.campaign;
  let revision = row.draft?.revision ?? null;
  let basedOn = row.draft?.basedOn ?? row.newest;
  /** What is stored, as far as this page knows. */
  let base = original;
  const kept = isReadOnly ? null : unsavedOf(row.id);
  // What is stored may be the kept change itself: the page was closed before it read that it was saved.
  const recovered = kept && JSON.stringify(kept.campaign) !== JSON.stringify(original) ? kept : null;
  /** Somebody has saved or published since the change was made: then both are shown, and the operator chooses. */
  const isOvertaken =
    recovered !== null && (recovered.revision !== revision || recovered.basedOn !== basedOn);

  const campaign = signal<CampaignText>(recovered?.campaign ?? original);
  const isDraft = signal(row.draft !== null);
  const state = signal<SaveState>(isOvertaken ? 'conflict' : 'saved');
  const problem = signal<string | null>(null);
  const theirs = signal<DraftRow | null>(isOvertaken ? row.draft : null);
  const checks = signal<DraftCheck[]>([]);
  const steps = createSteps<CampaignText>();
  const errors = computed(() => checks.value.filter(({ severity }) => severity === 'error'));

  let timer: ReturnType<typeof setTimeout> | undefined;
  let saving: Promise<void> = Promise.resolve();

  const check = (content: CampaignText) =>
    call<{ checks: DraftCheck[] }>('POST', '/api/checks', { body: { campaign: content } }).then(
      (answer) => {
        if (campaign.value === content) checks.value = answer.checks;
      },
      // What is wrong is told again with the next change that is saved.
      () => undefined,
    );
  /** What this page has sent is stored; it may have changed since. */
  const stored = (sent: CampaignText, as: string) => {
    revision = as;
    base = sent;
    isDraft.value = true;
    problem.value = null;
    state.value = campaign.value === sent ? 'saved' : 'waiting';
    if (state.value === 'saved') forgetUnsaved(row.id);
  };
  const refused = (sent: CampaignText, error: unknown) => {
    if (!(error instanceof ApiError && error.status === 412)) {
      problem.value = wordsOf(error);
      state.value = 'failed';
      return;
    }
    const draft = (error.body['theirs'] as DraftRow | null) ?? null;
    if (draft && JSON.stringify(draft.campaign) === JSON.stringify(sent)) {
      // It is what this page itself saved as it was left: only the answer was lost.
      stored(sent, draft.revision);
      void check(sent);
      return;
    }
    const merged = draft && mergeCampaigns(base, campaign.value, draft.campaign);
    if (!merged) {
      theirs.value = draft;
      state.value = 'conflict';
      return;
    }
    ({ revision, basedOn, campaign: base } = draft);
    // A step back would take their change away with one's own.
    steps.forget();
    put(merged);
    announce(`${draft.editor} changed other parts of this draft meanwhile. Both changes are kept.`);
  };
  const saveOnce = async (keepalive: boolean): Promise<void> => {
    if (state.value === 'saved' || state.value === 'conflict') return;
    const sent = campaign.value;
    state.value = 'saving';
    const body = { campaign: sent, based_on: basedOn };
    try {
      const answer = await call<SavedDraft>('PUT', path, { body, ifMatch: revision, keepalive });
      checks.value = answer.checks;
      stored(sent, answer.revision);
    } catch (error) {
      refused(sent, error);
    }
    if (state.peek() === 'waiting') saveSoon();
  };
  // One after the other: each is over the revision that the one before it made.
  const save = (keepalive = false): Promise<void> => {
    clearTimeout(timer);
    saving = saving.then(() => saveOnce(keepalive));
    return saving;
  };
  const saveSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void save(), SAVE_MS);
  };
  const put = (next: CampaignText) => {
    campaign.value = next;
    // In a conflict too: the page may be closed before the operator has chosen.
    keepUnsaved(row.id, { revision, basedOn, campaign: next });
    if (state.value === 'conflict') return;
    state.value = 'waiting';
    saveSoon();
  };

  /** Changes the campaign. Changes with one `mark` that follow each other closely are undone together. */
  const change = (make: (campaign: CampaignText) => CampaignText, mark = '') => {
    steps.keep(campaign.value, mark);
    put(make(campaign.value));
  };

  if (recovered && !isOvertaken) put(recovered.campaign);
  else void check(campaign.value);
  if (isOvertaken) basedOn = recovered.basedOn;

  return {
    id: row.id,
    row,
    isReadOnly,
    campaign,
    isDraft,
    state,
    problem,
    theirs,
    checks,
    errors,
    canUndo: steps.canUndo,
    canRedo: steps.canRedo,
    revision: () => revision,
    save,
    /** Resolves once nothing waits to be saved any more: all is stored, or the state says why not. */
    async flush() {
      do await save();
      while (state.peek() === 'waiting');
    },
    change,
    /** Changes one member of the campaign; `null` takes it out. */
    set<Name extends keyof CampaignText>(name: Name, value: CampaignText[Name] | null, mark: string = name) {
      change((before) => {
        const { [name]: _, ...rest } = before;
        return value === null ? (rest as CampaignText) : { ...before, [name]: value };
      }, mark);
    },
    /** Changes one variant. */
    changeVariant(variantId: string, make: (before: VariantText) => VariantText, mark: string) {
      const variants = campaign.value.variants.map((each) =>
        each.variant_id === variantId ? make(each) : each,
      );
      change((before) => ({ ...before, variants }), `${variantId} ${mark}`);
    },
    undo() {
      const before = steps.back(campaign.value);
      if (before) put(before);
    },
    redo() {
      const after = steps.forth(campaign.value);
      if (after) put(after);
    },
    /** What was kept of this campaign on the device is of no use any more. */
    forget: () => forgetUnsaved(row.id),
    /**
     * Looks whether somebody else has saved, published or discarded this draft, and says so before the next change is
     * refused. What could not be saved is tried again first.
     */
    async look() {
      if (state.value === 'failed') await save();
      if (state.value !== 'saved') return;
      const known = revision;
      const { draft } = await call<CampaignRow>('GET', `/api/campaigns/${encodeURIComponent(row.id)}`);
      if (known !== revision || state.peek() !== 'saved') return;
      if ((draft?.revision ?? null) === known) return;
      theirs.value = draft;
      state.value = 'conflict';
    },
    /** After a conflict: what this page has is saved over theirs. */
    keepMine() {
      revision = theirs.value?.revision ?? null;
      base = theirs.value?.campaign ?? base;
      // Without a draft of theirs it stays over the release that it was made over: publishing then shows what came since.
      basedOn = theirs.value?.basedOn ?? basedOn;
      theirs.value = null;
      state.value = 'waiting';
      void save();
    },
    /** After a conflict: goes on with what somebody else saved; one's own is one step back. */
    takeTheirs() {
      const taken = theirs.value;
      if (!taken) return;
      steps.keep(campaign.value);
      campaign.value = taken.campaign;
      base = taken.campaign;
      revision = taken.revision;
      basedOn = taken.basedOn;
      theirs.value = null;
      state.value = 'saved';
      forgetUnsaved(row.id);
    },
    /** After a release that this draft did not know: from now on it is meant to follow that one. */
    async follow(release: number) {
      basedOn = release;
      state.value = 'waiting';
      await this.flush();
    },
  };
};
export type Editor = ReturnType<typeof createEditor>;
