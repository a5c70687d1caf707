/** A campaign as it was published at one moment. Releases are only ever added. */
export interface Release {
  workspaceId: string;
  /** 1, 2, 3 … over all campaigns of the workspace. */
  release: number;
  campaignId: string;
  /** As a workspace file would write it; `null` takes the campaign away. */
  campaign: unknown;
  /** The release of the same campaign that its author had before them; 0 where there was none. */
  basedOn: number;
  author: string;
  note: string;
  createdAtMs: number;
  /** From when on it is what users get. */
  liveAtMs: number;
}

/** A campaign that is being edited: one for each campaign, which all operators share. */
export interface Draft {
  workspaceId: string;
  campaignId: string;
  campaign: unknown;
  /** Another text with every save. */
  revision: string;
  /** The release that the edit began from; 0 where there was none. */
  basedOn: number;
  editor: string;
  updatedAtMs: number;
}

/** An operator who has signed in, until they sign out or the session is too old. */
export interface OperatorSession {
  workspaceId: string;
  /** SHA-256 of the session's token, in hexadecimal digits. The token itself is stored nowhere. */
  sessionId: string;
  operator: string;
  /** The role that an identity provider vouches for; `null`: the workspace file says it. */
  role: string | null;
  people: boolean;
  createdAtMs: number;
  seenAtMs: number;
}

/** The action of an audit entry whose subject is a user. */
export const LOOK_AT_USER = 'look at user';

/** Who did what, for those who must answer for it. */
export interface AuditEntry {
  workspaceId: string;
  atMs: number;
  operator: string;
  /** For example `publish`. */
  action: string;
  /** What it was done to: a campaign, a session, a user; `''` where there is no such thing. */
  subject: string;
  /** More of it in one line; `''` where there is no more. */
  details: string;
}

export interface PageOptions {
  /** Only entries before this one: a release's number, an audit entry's time. */
  before?: number;
  limit: number;
}

/** The Studio's tables. Small: what operators write, never what users do. */
export interface StudioStore {
  /** The number of the newest release; 0 where there is none. */
  newestRelease(workspaceId: string): Promise<number>;
  /** The newest release of each campaign among those that are live at `nowMs`, oldest campaign first. */
  liveReleases(workspaceId: string, nowMs: number): Promise<Release[]>;
  /** Releases that become live after `nowMs`, soonest first. */
  plannedReleases(workspaceId: string, nowMs: number): Promise<Release[]>;
  /** Newest first. */
  releases(workspaceId: string, page: PageOptions & { campaignId?: string }): Promise<Release[]>;
  /** The release of this number; `null` where there is none. */
  release(workspaceId: string, release: number): Promise<Release | null>;
  /** Adds a release and says its number: `null` where the campaign has a release after `basedOn`. */
  addRelease(release: Omit<Release, 'release'>): Promise<number | null>;

  /** Every draft of the workspace. */
  drafts(workspaceId: string): Promise<Draft[]>;
  /** The draft of one campaign; `null` where there is none. */
  draft(workspaceId: string, campaignId: string): Promise<Draft | null>;
  /** Saves over the draft of revision `over`, `null` for none: false where the stored one is another. */
  saveDraft(draft: Draft, over: string | null): Promise<boolean>;
  /** False where the stored draft is of another revision. */
  removeDraft(workspaceId: string, campaignId: string, revision: string): Promise<boolean>;

  /** Stores a session. */
  openSession(session: OperatorSession): Promise<void>;
  /** The session of this ID; `null` where there is none. */
  session(sessionId: string): Promise<OperatorSession | null>;
  /** Every session of the workspace that is open. */
  sessions(workspaceId: string): Promise<OperatorSession[]>;
  /** Notes when a session was last used. */
  touchSession(sessionId: string, seenAtMs: number): Promise<void>;
  /** Closes a session. It is no error where there is none. */
  closeSession(sessionId: string): Promise<void>;
  /** Closes those that began, or were seen last, before these moments. */
  closeOldSessions(createdBeforeMs: number, seenBeforeMs: number): Promise<void>;

  /** Adds an entry to the audit. */
  addAudit(entry: AuditEntry): Promise<void>;
  /** Takes a subject that was a user out of the audit; the entries stay. */
  forgetSubject(workspaceId: string, subject: string): Promise<void>;
  /** Newest first. */
  audit(workspaceId: string, page: PageOptions): Promise<AuditEntry[]>;
}
