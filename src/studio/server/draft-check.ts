/** Something to say of a draft. An error keeps it from being published; a warning asks. */
export interface DraftCheck {
  severity: 'error' | 'warning';
  /** Where in the campaign, for example `['variants', 0, 'properties', 'headline']`. */
  path: (string | number)[];
  words: string;
}

/** Adds one to the list. */
export type Tell = (severity: DraftCheck['severity'], path: DraftCheck['path'], words: string) => void;
