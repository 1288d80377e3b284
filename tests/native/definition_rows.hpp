#pragma once

// Global definitions as rows: what libotf2's reader gives and its writer takes, of every kind that OTF2 has. A field is
// a parameter of the kind's prototype, in its order.

#include <otf2/otf2.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace logpost::tests {

/// A number, a text, or numbers whose count is the field before.
struct Field {
    std::vector<std::uint64_t> numbers;
    std::string text;

    Field(const char* value) : text(value == nullptr ? "" : value) {}         // NOLINT(google-explicit-constructor)
    Field(std::vector<std::uint64_t> values) : numbers(std::move(values)) {}  // NOLINT(google-explicit-constructor)
    Field(OTF2_AttributeValue value) : numbers{0} {                           // NOLINT(google-explicit-constructor)
        std::memcpy(numbers.data(), &value, sizeof value);
    }
    template <class Number>
        requires(std::integral<Number> || std::is_enum_v<Number>)
    Field(Number value) : numbers{static_cast<std::uint64_t>(value)} {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] std::uint64_t number() const { return numbers.at(0); }
    bool operator==(const Field&) const = default;
};

struct Definition {
    std::string kind;
    std::vector<Field> fields;
    bool operator==(const Definition&) const = default;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // Callsite: old archives have it

// The formatter finds another shape each time.
// clang-format off
#define LOGPOST_DEFINITIONS(X)                                                                                        \
    X(ClockProperties) X(Paradigm) X(ParadigmProperty) X(IoParadigm) X(String) X(Attribute) X(SystemTreeNode)         \
    X(LocationGroup) X(Location) X(Region) X(Callsite) X(Callpath) X(Group) X(MetricMember) X(MetricClass)            \
    X(MetricInstance) X(Comm) X(Parameter) X(RmaWin) X(MetricClassRecorder) X(SystemTreeNodeProperty)                 \
    X(SystemTreeNodeDomain) X(LocationGroupProperty) X(LocationProperty) X(CartDimension) X(CartTopology)             \
    X(CartCoordinate) X(SourceCodeLocation) X(CallingContext) X(CallingContextProperty) X(InterruptGenerator)         \
    X(IoFileProperty) X(IoRegularFile) X(IoDirectory) X(IoHandle) X(IoPreCreatedHandleState) X(CallpathParameter)     \
    X(InterComm)
// clang-format on

namespace rows {

// A parameter of a writer, from a field.
template <class T>
struct Parameter {
    explicit Parameter(const Field& field) {
        if constexpr (std::is_same_v<T, OTF2_AttributeValue>) {
            std::memcpy(&value, field.numbers.data(), sizeof value);
        } else {
            value = static_cast<T>(field.number());
        }
    }
    T get() { return value; }
    T value;
};
template <>
struct Parameter<const char*> {
    explicit Parameter(const Field& field) : value(field.text) {}
    const char* get() { return value.c_str(); }
    std::string value;
};
template <class T>
struct Parameter<const T*> {
    explicit Parameter(const Field& field) {
        for (const auto number : field.numbers) {
            values.push_back(Parameter<T>(Field(number)).value);
        }
    }
    const T* get() { return values.data(); }
    std::vector<T> values;
};

template <class... Parameters>
OTF2_ErrorCode write(OTF2_ErrorCode (*to)(OTF2_GlobalDefWriter*, Parameters...), OTF2_GlobalDefWriter* writer,
                     const Definition& row) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return to(writer, Parameter<Parameters>(row.fields.at(i)).get()...);
    }(std::index_sequence_for<Parameters...>{});
}

// A field, from an argument of a callback; of arrays the field before states how many there are.
template <class T>
void add(std::vector<Field>& fields, std::uint64_t& last, T value) {
    if constexpr (std::is_same_v<T, const char*>) {
        fields.emplace_back(value);
    } else if constexpr (std::is_pointer_v<T>) {
        std::vector<std::uint64_t> numbers;
        for (std::uint64_t i = 0; i < last; ++i) {
            numbers.push_back(Field(value[i]).number());
        }
        fields.emplace_back(std::move(numbers));
    } else {
        fields.emplace_back(value);
        last = fields.back().number();
    }
}

template <std::size_t kind>
struct OfKind {
    template <class... Arguments>
    static OTF2_CallbackCode take(void* user, Arguments... arguments);
};

inline constexpr std::array kKinds = {
#define LOGPOST_NAME(name) #name,
    LOGPOST_DEFINITIONS(LOGPOST_NAME)
#undef LOGPOST_NAME
};

template <std::size_t kind>
template <class... Arguments>
OTF2_CallbackCode OfKind<kind>::take(void* user, Arguments... arguments) {
    Definition row{kKinds[kind], {}};
    std::uint64_t last = 0;
    (add(row.fields, last, arguments), ...);
    static_cast<std::vector<Definition>*>(user)->push_back(std::move(row));
    return OTF2_CALLBACK_SUCCESS;
}

}  // namespace rows

/// Every global definition of an opened archive, in its order.
inline std::vector<Definition> read_rows(OTF2_Reader* reader) {
    std::vector<Definition> all;
    auto* callbacks = OTF2_GlobalDefReaderCallbacks_New();
    enum Number : std::size_t {
#define LOGPOST_NUMBER(name) k##name,
        LOGPOST_DEFINITIONS(LOGPOST_NUMBER)
#undef LOGPOST_NUMBER
    };
#define LOGPOST_SET(name) OTF2_GlobalDefReaderCallbacks_Set##name##Callback(callbacks, rows::OfKind<k##name>::take);
    LOGPOST_DEFINITIONS(LOGPOST_SET)
#undef LOGPOST_SET
    auto* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &all);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    std::uint64_t n = 0;
    const auto status = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n);
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    if (status != OTF2_SUCCESS) {
        throw std::runtime_error(std::string("cannot read the definitions: ") + OTF2_Error_GetDescription(status));
    }
    return all;
}

/// False: libotf2 refuses to write it.
inline bool write_row(OTF2_GlobalDefWriter* writer, const Definition& row) {
    using Write = OTF2_ErrorCode (*)(OTF2_GlobalDefWriter*, const Definition&);
    static const std::map<std::string, Write> kWriters = {
#define LOGPOST_WRITE(name)                                            \
    {#name, [](OTF2_GlobalDefWriter* to, const Definition& of) {       \
         return rows::write(OTF2_GlobalDefWriter_Write##name, to, of); \
     }},
        LOGPOST_DEFINITIONS(LOGPOST_WRITE)
#undef LOGPOST_WRITE
    };
    return kWriters.at(row.kind)(writer, row) == OTF2_SUCCESS;
}

#pragma GCC diagnostic pop

}  // namespace logpost::tests
