/** What a property template may read. */
export interface PersonaliseContext {
  /** Standard attributes and identifiers by their wire name: `{{${first_name}}}`. */
  user: Record<string, unknown>;
  /** `{{custom_attribute.${tier}}}`. */
  customAttributes: Record<string, unknown>;
  /** `{{targeted_device.${platform}}}`; empty where the device is not known. */
  device: Record<string, unknown>;
}
