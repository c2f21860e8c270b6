"""SQL conditions that a node `n` is the end of a step, which comes from a naming rule, an operator's alias, or a facet's claim about its
name.
"""

HAS_STEP = """n.kind = 1 AND (EXISTS (SELECT 1 FROM name_alias r WHERE r.namespace = n.namespace AND r.name = n.name)
OR EXISTS (SELECT 1 FROM name_alias r WHERE r.to_namespace = n.namespace AND r.to_name = n.name))"""
HAS_ALIAS = """EXISTS (SELECT 1 FROM alias a WHERE a.entity = n.kind AND a.whole = 0 AND a.a_namespace = n.namespace AND a.a_name = n.name)
OR EXISTS (SELECT 1 FROM alias a INDEXED BY alias_back
WHERE a.entity = n.kind AND a.whole = 0 AND a.b_namespace = n.namespace AND a.b_name = n.name)"""
HAS_CLAIM = """n.kind = 1 AND (EXISTS (SELECT 1 FROM namespace_claim c
WHERE c.whole = 0 AND c.a_namespace = n.namespace AND c.a_name = n.name)
OR EXISTS (SELECT 1 FROM namespace_claim c INDEXED BY namespace_claim_back
WHERE c.whole = 0 AND c.b_namespace = n.namespace AND c.b_name = n.name))"""
