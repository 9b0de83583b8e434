// Records of the client from JSON, and JSON from them, by the names of their components.

package io.github.grantd;

import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

final class Records {
    /** The form of times in the API. */
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    private Records() {}

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return value == null ? Map.of() : (Map<String, Object>) value;
    }

    private static String nameOf(RecordComponent component) {
        String name = component.getName();
        return name.equals("publicNamespaces") ? "public" : name.replaceAll("([A-Z])", "_$1").toLowerCase();
    }

    static Object toJson(Object value) throws ReflectiveOperationException {
        if (value instanceof Instant time) return TIME.format(time);
        if (value instanceof RuleElement element) return toJson(element.name() == null ? element.gate() : element.name());
        if (value instanceof List<?> list) {
            List<Object> items = new ArrayList<>();
            for (Object item : list) items.add(toJson(item));
            return items;
        }
        if (!(value instanceof Record)) return value;
        Map<String, Object> members = new LinkedHashMap<>();
        for (RecordComponent component : value.getClass().getRecordComponents()) {
            members.put(nameOf(component), toJson(component.getAccessor().invoke(value)));
        }
        return members;
    }

    static <T> T from(Class<T> type, Object json) throws ReflectiveOperationException {
        Map<String, Object> members = object(json);
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            values[i] = valueOf(components[i].getGenericType(), members.get(nameOf(components[i])));
        }
        Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class[]::new);
        Constructor<T> constructor = type.getDeclaredConstructor(types);
        return constructor.newInstance(values);
    }

    static <T> List<T> list(Class<T> type, Object json) throws ReflectiveOperationException {
        List<T> items = new ArrayList<>();
        for (Object item : json == null ? List.of() : (List<?>) json) items.add(from(type, item));
        return items;
    }

    private static Object valueOf(Type type, Object json) throws ReflectiveOperationException {
        if (json == null) return type == boolean.class ? Boolean.FALSE : null;
        if (type == RuleElement.class) {
            return json instanceof String name ? RuleElement.of(name) : RuleElement.of(from(RuleGate.class, json));
        }
        if (type == Integer.class) return ContractRunner.number(json);
        if (type instanceof ParameterizedType of && of.getRawType() == List.class) {
            List<Object> items = new ArrayList<>();
            for (Object item : (List<?>) json) items.add(valueOf(of.getActualTypeArguments()[0], item));
            return items;
        }
        return type instanceof Class<?> known && known.isRecord() ? from(known, json) : json;
    }
}
