import { computed, signal } from '@preact/signals';
import type { ReviewEntry } from '../../../service/index.ts';
import type { CampaignJson, VariantJson } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { mergeCampaigns } from '../../campaign/merge-campaigns.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import type { CampaignVersions, DraftResponse } from '../../server/routes/campaigns.ts';
import type { SavedDraft } from '../../server/routes/drafts.ts';
import { ApiError, call, describeError } from '../call.ts';
import { announce } from '../components/notices.tsx';
import { signedIn } from '../shell/session.ts';
import { createUndoStack } from './undo-stack.ts';

const getStorageKey = (campaignId: string) => `placard-unsaved:${signedIn().workspace.id}:${campaignId}`;

/** Campaign as last stored on the server, or with an unsaved change. */
interface Stored extends Pick<DraftResponse, 'basedOn' | 'campaign'> {
  /** `null` if there is no draft. */
  revision: string | null;
  /** Last operator who saved the draft. */
  editor: string | null;
}

/** Stores an unsaved change in local storage, so that it survives closing the page offline. */
const keepUnsaved = (campaignId: string, unsaved: Stored): void => {
  try {
    localStorage.setItem(getStorageKey(campaignId), JSON.stringify(unsaved));
  } catch {
    // Storage is full or disabled. The change is still sent to the server.
  }
};

const forgetUnsaved = (campaignId: string): void => {
  try {
    localStorage.removeItem(getStorageKey(campaignId));
  } catch {
    // Storage is disabled, so it contains nothing to delete.
  }
};

const readUnsaved = (campaignId: string): Stored | null => {
  try {
    return JSON.parse(localStorage.getItem(getStorageKey(campaignId)) ?? 'null');
  } catch {
    // Storage is disabled, or has data of another format.
    return null;
  }
};

/** Returns the author of a change: another operator, or the current operator in another window. */
export const describeEditor = (name: string | null): string =>
  name === signedIn().operator.name
    ? 'You changed this draft in another window'
    : `${name} changed this draft`;

/** Debounce of saving, in milliseconds. */
const SAVE_MS = 500;

/** Status of saving to the server. */
export type SaveState =
  | { status: 'saved' | 'waiting' | 'saving' }
  | { status: 'failed'; message: string }
  /** Another operator saved first. `theirs` is `null` if they published or discarded the draft. */
  | { status: 'conflict'; theirs: DraftResponse | null };
const SAVED: SaveState = { status: 'saved' };
const WAITING: SaveState = { status: 'waiting' };

/**
 * Creates the state of a campaign in the editor. Saves each change as a draft based on the known revision. After a conflict,
 * saves nothing until the operator has chosen a version.
 */
export const createEditor = (row: CampaignVersions, isReadOnly: boolean) => {
  const path = `/api/drafts/${encodeURIComponent(row.id)}`;
  const found: Stored = row.draft ?? {
    revision: null,
    basedOn: row.newest,
    campaign: currentCampaign(row),
    editor: null,
  };
  const kept = isReadOnly ? null : readUnsaved(row.id);
  // The stored draft may equal the kept change if the page was closed before the response arrived.
  const recovered = kept && JSON.stringify(kept.campaign) !== JSON.stringify(found.campaign) ? kept : null;
  /** Whether another operator saved or published after the change. The operator then chooses between the versions. */
  const isOvertaken =
    recovered !== null && (recovered.revision !== found.revision || recovered.basedOn !== found.basedOn);

  const saved = signal<Stored>(isOvertaken ? { ...found, basedOn: recovered.basedOn } : found);
  const campaign = signal(recovered?.campaign ?? found.campaign);
  const state = signal<SaveState>(isOvertaken ? { status: 'conflict', theirs: row.draft } : SAVED);
  const checks = signal<DraftCheck[]>([]);
  /** Whether `checks` are known. */
  const isChecked = signal(false);
  const steps = createUndoStack<CampaignJson>();
  const errors = computed(() => checks.value.filter(({ severity }) => severity === 'error'));
  const review = signal<readonly ReviewEntry[]>(row.draft?.review ?? []);
  const isDraft = computed(() => saved.value.revision !== null);

  /** Whether this page has changes. A page without changes follows those of other operators. */
  let hasChanged = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let saving: Promise<void> = Promise.resolve();

  const check = (content: CampaignJson) =>
    call<{ checks: DraftCheck[] }>('POST', '/api/validation', { body: { campaign: content } }).then(
      (response) => {
        if (campaign.value !== content) return;
        checks.value = response.checks;
        isChecked.value = true;
      },
      // The next save reports the error.
      () => undefined,
    );
  /** Records the campaign that the server has stored. The page may have changed it since. */
  const markSaved = (sent: CampaignJson, as: string) => {
    saved.value = { ...saved.value, revision: as, campaign: sent, editor: signedIn().operator.name };
    state.value = campaign.value === sent ? SAVED : WAITING;
    if (state.value === SAVED) forgetUnsaved(row.id);
  };
  const handleSaveError = (sent: CampaignJson, error: unknown) => {
    if (!(error instanceof ApiError && error.status === 412)) {
      state.value = { status: 'failed', message: describeError(error) };
      return;
    }
    const draft = (error.body['theirs'] as DraftResponse | null) ?? null;
    if (draft && JSON.stringify(draft.campaign) === JSON.stringify(sent)) {
      // The draft is from a save of this page at its previous exit, whose response was lost.
      markSaved(sent, draft.revision);
      void check(sent);
      return;
    }
    const merged = draft && mergeCampaigns(saved.value.campaign, campaign.value, draft.campaign);
    if (!merged) {
      state.value = { status: 'conflict', theirs: draft };
      return;
    }
    saved.value = draft;
    // Clears the history, because Undo would revert the change of the other operator.
    steps.forget();
    put(merged);
    announce(`${describeEditor(draft.editor)}. Both changes are kept.`);
  };
  const saveOnce = async (keepalive: boolean): Promise<void> => {
    if (state.value.status === 'saved' || state.value.status === 'conflict') return;
    const sent = campaign.value;
    const { revision, basedOn } = saved.value;
    state.value = { status: 'saving' };
    const body = { campaign: sent, based_on: basedOn };
    try {
      const response = await call<SavedDraft>('PUT', path, { body, ifMatch: revision, keepalive });
      checks.value = response.checks;
      isChecked.value = true;
      markSaved(sent, response.revision);
    } catch (error) {
      handleSaveError(sent, error);
    }
    if (state.peek().status === 'waiting') saveSoon();
  };
  // Saves sequentially, because each save requires the revision of the previous one.
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
    // Stores the change also during a conflict, because the page may be closed before the operator has chosen.
    keepUnsaved(row.id, { ...saved.value, campaign: next });
    if (state.value.status === 'conflict') return;
    state.value = WAITING;
    saveSoon();
  };

  /** Changes the campaign. Consecutive changes with the same `mark` are one undo step. */
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
    isChecked,
    errors,
    review,
    canUndo: steps.canUndo,
    canRedo: steps.canRedo,
    revision: () => saved.value.revision,
    lastEditor: () => saved.value.editor,
    save,
    /** Resolves once all changes are stored or saving has failed. The state contains the error. */
    async flush() {
      do await save();
      while (state.peek().status === 'waiting');
    },
    change,
    /** Sets a member of the campaign; `null` removes it. */
    set<Name extends keyof CampaignJson>(name: Name, value: CampaignJson[Name] | null, mark: string = name) {
      change((before) => {
        const { [name]: _, ...rest } = before;
        return value === null ? (rest as CampaignJson) : { ...before, [name]: value };
      }, mark);
    },
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
    /** Deletes the unsaved change of this campaign from local storage. */
    forget: () => forgetUnsaved(row.id),
    /** Polls for changes by other operators, to show conflicts before the next save. Retries a failed save first. */
    async poll() {
      if (state.value.status === 'failed') await save();
      if (state.value !== SAVED) return;
      const before = saved.value;
      const { draft } = await call<CampaignVersions>('GET', `/api/campaigns/${encodeURIComponent(row.id)}`);
      if (saved.value !== before || state.peek() !== SAVED) return;
      review.value = draft?.review ?? [];
      if ((draft?.revision ?? null) === before.revision) return;
      if (!draft || hasChanged) {
        state.value = { status: 'conflict', theirs: draft };
        return;
      }
      saved.value = draft;
      campaign.value = draft.campaign;
      void check(draft.campaign);
      announce(`${describeEditor(draft.editor)}.`);
    },
    /** Resolves a conflict by saving this page's version over the other operator's. */
    keepMine() {
      if (state.value.status !== 'conflict') return;
      const { theirs } = state.value;
      // If the other operator has no draft, keeps the base release, so that publishing shows the newer release.
      saved.value = theirs ?? { ...saved.value, revision: null };
      state.value = WAITING;
      void save();
    },
    /** Resolves a conflict by continuing with the other operator's version. Undo restores this page's version. */
    takeTheirs() {
      if (state.value.status !== 'conflict' || !state.value.theirs) return;
      steps.keep(campaign.value);
      saved.value = state.value.theirs;
      campaign.value = saved.value.campaign;
      state.value = SAVED;
      forgetUnsaved(row.id);
    },
    /** Rebases the draft on a newer release. */
    async follow(release: number) {
      saved.value = { ...saved.value, basedOn: release };
      state.value = WAITING;
      await this.flush();
    },
  };
};
export type Editor = ReturnType<typeof createEditor>;
