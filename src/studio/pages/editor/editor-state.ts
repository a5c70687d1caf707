import { computed, signal } from '@preact/signals';
import type { ReviewEntry } from '../../../service/index.ts';
import type { CampaignJson, VariantJson } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { mergeCampaigns } from '../../campaign/merge-campaigns.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import type { CampaignRow, DraftRow } from '../../server/routes/campaigns.ts';
import type { SavedDraft } from '../../server/routes/drafts.ts';
import { ApiError, call, describeError } from '../call.ts';
import { announce } from '../components/notices.tsx';
import { signedIn } from '../shell/session.ts';
import { createUndoStack } from './undo-stack.ts';

const keyOf = (campaignId: string) => `placard-unsaved:${signedIn().workspace.id}:${campaignId}`;

/** A campaign as the server has it, as far as this page knows; or a change of it that the server does not have yet. */
interface Stored {
  /** `null`: there is no draft. */
  revision: string | null;
  basedOn: number;
  campaign: CampaignJson;
  /** Who saved the draft last. */
  editor: string | null;
}

const storedOf = ({ revision, basedOn, campaign, editor }: DraftRow): Stored => ({
  revision,
  basedOn,
  campaign,
  editor,
});

/** Keeps a change until the server has it: a page that is closed without a connection would lose it. */
const keepUnsaved = (campaignId: string, unsaved: Stored): void => {
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

const unsavedOf = (campaignId: string): Stored | null => {
  try {
    return JSON.parse(localStorage.getItem(keyOf(campaignId)) ?? 'null');
  } catch {
    // Storage is switched off, or holds what no version of this page has written.
    return null;
  }
};

/** Pause in typing after which a draft is saved. */
const SAVE_MS = 500;

/** Whether the server has what this page shows. */
export type SaveState =
  | { is: 'saved' | 'waiting' | 'saving' }
  | { is: 'failed'; why: string }
  /** Somebody else was faster; without `theirs` they published or discarded the draft. */
  | { is: 'conflict'; theirs: DraftRow | null };
const SAVED: SaveState = { is: 'saved' };
const WAITING: SaveState = { is: 'waiting' };

/**
 * A campaign being edited. Every change is saved as a draft over the revision that this page knows; where somebody else
 * was faster nothing is saved until the operator has chosen.
 */
export const createEditor = (row: CampaignRow, isReadOnly: boolean) => {
  const path = `/api/drafts/${encodeURIComponent(row.id)}`;
  const found: Stored = row.draft
    ? storedOf(row.draft)
    : { revision: null, basedOn: row.newest, campaign: currentCampaign(row), editor: null };
  const kept = isReadOnly ? null : unsavedOf(row.id);
  // What is stored may be the kept change itself: the page was closed before it read that it was saved.
  const recovered = kept && JSON.stringify(kept.campaign) !== JSON.stringify(found.campaign) ? kept : null;
  /** Somebody has saved or published since the change was made: then both are shown, and the operator chooses. */
  const isOvertaken =
    recovered !== null && (recovered.revision !== found.revision || recovered.basedOn !== found.basedOn);

  const known = signal(isOvertaken ? { ...found, basedOn: recovered.basedOn } : found);
  const campaign = signal(recovered?.campaign ?? found.campaign);
  const state = signal<SaveState>(isOvertaken ? { is: 'conflict', theirs: row.draft } : SAVED);
  const checks = signal<DraftCheck[]>([]);
  const steps = createUndoStack<CampaignJson>();
  const errors = computed(() => checks.value.filter(({ severity }) => severity === 'error'));
  const review = signal<readonly ReviewEntry[]>(row.draft?.review ?? []);
  const isDraft = computed(() => known.value.revision !== null);

  /** Whether this page has changed anything: who only reads follows what others save. */
  let hasChanged = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let saving: Promise<void> = Promise.resolve();

  const check = (content: CampaignJson) =>
    call<{ checks: DraftCheck[] }>('POST', '/api/validation', { body: { campaign: content } }).then(
      (answer) => {
        if (campaign.value === content) checks.value = answer.checks;
      },
      // What is wrong is told again with the next change that is saved.
      () => undefined,
    );
  /** What this page has sent is stored; it may have changed since. */
  const stored = (sent: CampaignJson, as: string) => {
    known.value = { ...known.value, revision: as, campaign: sent, editor: signedIn().operator.name };
    state.value = campaign.value === sent ? SAVED : WAITING;
    if (state.value === SAVED) forgetUnsaved(row.id);
  };
  const refused = (sent: CampaignJson, error: unknown) => {
    if (!(error instanceof ApiError && error.status === 412)) {
      state.value = { is: 'failed', why: describeError(error) };
      return;
    }
    const draft = (error.body['theirs'] as DraftRow | null) ?? null;
    if (draft && JSON.stringify(draft.campaign) === JSON.stringify(sent)) {
      // It is what this page itself saved as it was left: only the answer was lost.
      stored(sent, draft.revision);
      void check(sent);
      return;
    }
    const merged = draft && mergeCampaigns(known.value.campaign, campaign.value, draft.campaign);
    if (!merged) {
      state.value = { is: 'conflict', theirs: draft };
      return;
    }
    known.value = storedOf(draft);
    // A step back would take their change away with one's own.
    steps.forget();
    put(merged);
    announce(`${draft.editor} changed other parts of this draft meanwhile. Both changes are kept.`);
  };
  const saveOnce = async (keepalive: boolean): Promise<void> => {
    if (state.value.is === 'saved' || state.value.is === 'conflict') return;
    const sent = campaign.value;
    const { revision, basedOn } = known.value;
    state.value = { is: 'saving' };
    const body = { campaign: sent, based_on: basedOn };
    try {
      const answer = await call<SavedDraft>('PUT', path, { body, ifMatch: revision, keepalive });
      checks.value = answer.checks;
      stored(sent, answer.revision);
    } catch (error) {
      refused(sent, error);
    }
    if (state.peek().is === 'waiting') saveSoon();
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
  const put = (next: CampaignJson) => {
    hasChanged = true;
    campaign.value = next;
    // In a conflict too: the page may be closed before the operator has chosen.
    keepUnsaved(row.id, { ...known.value, campaign: next });
    if (state.value.is === 'conflict') return;
    state.value = WAITING;
    saveSoon();
  };

  /** Changes the campaign. Changes with one `mark` that follow each other closely are undone together. */
  const change = (make: (campaign: CampaignJson) => CampaignJson, mark = '') => {
    steps.keep(campaign.value, mark);
    put(make(campaign.value));
  };

  if (recovered && !isOvertaken) put(recovered.campaign);
  else void check(campaign.value);

  return {
    id: row.id,
    row,
    isReadOnly,
    campaign,
    isDraft,
    state,
    checks,
    errors,
    review,
    canUndo: steps.canUndo,
    canRedo: steps.canRedo,
    revision: () => known.value.revision,
    lastEditor: () => known.value.editor,
    save,
    /** Resolves once nothing waits to be saved any more: all is stored, or the state says why not. */
    async flush() {
      do await save();
      while (state.peek().is === 'waiting');
    },
    change,
    /** Changes one member of the campaign; `null` takes it out. */
    set<Name extends keyof CampaignJson>(name: Name, value: CampaignJson[Name] | null, mark: string = name) {
      change((before) => {
        const { [name]: _, ...rest } = before;
        return value === null ? (rest as CampaignJson) : { ...before, [name]: value };
      }, mark);
    },
    /** Changes one variant. */
    changeVariant(variantId: string, make: (before: VariantJson) => VariantJson, mark: string) {
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
      if (state.value.is === 'failed') await save();
      if (state.value !== SAVED) return;
      const before = known.value;
      const { draft } = await call<CampaignRow>('GET', `/api/campaigns/${encodeURIComponent(row.id)}`);
      if (known.value !== before || state.peek() !== SAVED) return;
      review.value = draft?.review ?? [];
      if ((draft?.revision ?? null) === before.revision) return;
      if (!draft || hasChanged) {
        state.value = { is: 'conflict', theirs: draft };
        return;
      }
      known.value = storedOf(draft);
      campaign.value = draft.campaign;
      void check(draft.campaign);
      announce(`${draft.editor} changed this draft.`);
    },
    /** After a conflict: what this page has is saved over theirs. */
    keepMine() {
      if (state.value.is !== 'conflict') return;
      const { theirs } = state.value;
      // Without a draft of theirs it stays over the release that it was made over: publishing then shows what came since.
      known.value = theirs ? storedOf(theirs) : { ...known.value, revision: null };
      state.value = WAITING;
      void save();
    },
    /** After a conflict: goes on with what somebody else saved; one's own is one step back. */
    takeTheirs() {
      if (state.value.is !== 'conflict' || !state.value.theirs) return;
      steps.keep(campaign.value);
      known.value = storedOf(state.value.theirs);
      campaign.value = known.value.campaign;
      state.value = SAVED;
      forgetUnsaved(row.id);
    },
    /** After a release that this draft did not know: from now on it is meant to follow that one. */
    async follow(release: number) {
      known.value = { ...known.value, basedOn: release };
      state.value = WAITING;
      await this.flush();
    },
  };
};
export type Editor = ReturnType<typeof createEditor>;
