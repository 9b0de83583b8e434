// What rules mean, as a fixpoint over a set: slow, and short enough to be read as the definition. Evaluation is
// compared with it.

import { namesInRule, type RuleSet } from '../../src/rules/rule-set.ts';

export interface NaiveGrant {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

const namespaceOf = (text: string): string => text.slice(0, text.indexOf(':'));

/** `ns:id#name`, or undefined. */
function groupOf(text: string): { object: string; name: string } | undefined {
  const [, object = '', name = ''] = /^([^:]*:.+)#([A-Za-z][A-Za-z0-9_.-]{0,63})$/u.exec(text) ?? [];
  return object === '' ? undefined : { object, name };
}

const factOf = (name: string, object: string): string => `${name} ${object}`;

/** All that the subject holds, as `name object`. */
export function naiveHeld(ruleSet: RuleSet, grants: readonly NaiveGrant[], subject: string): ReadonlySet<string> {
  const held = new Set<string>();
  const isGroup = (text: string) => ruleSet.groups && groupOf(text) !== undefined;
  const isPublic = (text: string) => ruleSet.public.includes(namespaceOf(text));
  const own = ruleSet.groups ? groupOf(subject) : undefined;
  if (own !== undefined) held.add(factOf(own.name, own.object));
  const standsForSubject = (text: string): boolean => {
    if (text === subject) return true;
    if (!isGroup(subject) && isPublic(subject) && text === `${namespaceOf(subject)}:*`) return true;
    const group = ruleSet.groups ? groupOf(text) : undefined;
    return group !== undefined && held.has(factOf(group.name, group.object));
  };
  const isEntity = (text: string) => !isGroup(text) && !(isPublic(text) && text === `${namespaceOf(text)}:*`);
  const objects = new Set([...grants.map(({ object }) => object), ...(own === undefined ? [] : [own.object])]);
  for (let size = -1; size < held.size; ) {
    size = held.size;
    for (const grant of grants) if (standsForSubject(grant.subject)) held.add(factOf(grant.relation, grant.object));
    for (const rule of ruleSet.rules) {
      const { namespace, name } = rule;
      const anyOf = namesInRule(rule);
      for (const object of objects) {
        if (namespaceOf(object) !== namespace) continue;
        const follows = anyOf.some((element) =>
          element.from === undefined
            ? held.has(factOf(element.name, object))
            : grants.some(
                ({ subject: parent, relation, object: child }) =>
                  relation === element.from &&
                  child === object &&
                  isEntity(parent) &&
                  held.has(factOf(element.name, parent)),
              ),
        );
        if (follows) held.add(factOf(name, object));
      }
    }
  }
  return held;
}
